import { expect, test } from 'bun:test';
import { sourceAddress } from '../../../src/http/limits/source-address.ts';

const source = (
  peer: string | null,
  forwardedFor: string | null,
  trusted: readonly string[] = ['127.0.0.1', '192.0.2.9'],
) => sourceAddress({ peer, forwardedFor, trustedProxies: new Set(trusted) });

test('the source is the other end of the connection, whatever X-Forwarded-For says', () => {
  expect(source('198.51.100.1', null)).toBe('198.51.100.1');
  expect(source('198.51.100.1', '8.8.8.8')).toBe('198.51.100.1');
  expect(source('127.0.0.1', '8.8.8.8', [])).toBe('127.0.0.1');
});

test('behind a trusted proxy the source is the address that the proxy added at the end', () => {
  expect(source('127.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
  expect(source('::ffff:127.0.0.1', '8.8.8.8, 198.51.100.1')).toBe('198.51.100.1');
});

test('behind several trusted proxies the source is the last address that none of them has', () => {
  expect(source('127.0.0.1', '8.8.8.8, 198.51.100.1, 192.0.2.9')).toBe('198.51.100.1');
});

test('where a trusted proxy added no address, the proxy is the source', () => {
  for (const header of [null, '', 'unknown', '198.51.100.1, nonsense', '198.51.100.1:4711']) {
    expect(source('127.0.0.1', header)).toBe('127.0.0.1');
  }
});

test('addresses of one IPv6 subscriber are one source', () => {
  expect(source('2001:db8:1:2::3', null)).toBe(source('2001:db8:1:2:ffff::9', null));
  expect(source('2001:db8:1:2::3', null)).not.toBe(source('2001:db8:1:3::3', null));
});

test('a connection without a known other end has a source too', () => {
  expect(source(null, '8.8.8.8')).toBe('unknown');
});
