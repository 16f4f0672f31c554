import { expect, test } from 'bun:test';
import { canonicalIp, subscriberOf } from '../../src/lib/network/ip-address.ts';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::1', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8:0:0:1::5', '2001:db8::1:0:0:5'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80::1'],
])('%s is %s in its canonical form', (text, canonical) => {
  expect(canonicalIp(text)).toBe(canonical);
});

test.each(['', 'unknown', 'localhost', '192.0.2', '192.0.2.1:80', '[::1]', '1.2.3.4.5', '::1 '])(
  '%p is no address',
  (text) => {
    expect(canonicalIp(text)).toBeNull();
  },
);

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
])('%s belongs to the subscriber %s', (address, subscriber) => {
  expect(subscriberOf(address)).toBe(subscriber);
});
