import { describe, expect, test } from 'bun:test';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { hasUnreachableNames, requireSafeExposure } from '../../src/config/exposure.ts';
import { localUrl } from '../../src/config/network.ts';
import { ConfigError, type Flags } from '../../src/config/sources.ts';
import { isLoopbackHost } from '../../src/lib/network/loopback-host.ts';

const SEED = 'a1'.repeat(32);
const load = (flags: Flags): Config => loadConfig({ flags, env: {}, cwd: '/' });
const withSeed = (flags: Flags) => load({ 'root-seed': SEED, ...flags });

/** Returns the message of the error for a configuration; null when there is none. */
function refusal(config: Config, onRealNode = false): string | null {
  try {
    requireSafeExposure(config, { onRealNode });
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
}

const OPEN: readonly (readonly [string, string, string])[] = [
  ['listen-addr', '0.0.0.0:5393', '0.0.0.0'],
  ['listen-addr', '192.168.1.5:5393', '192.168.1.5'],
  ['listen-addr', '[::]:5393', '::'],
  ['listen-addr', '127.evil.example:5393', '127.evil.example'],
  ['sidecar-url', 'https://pay.example.com/x', 'pay.example.com'],
  ['sidecar-url', 'http://127.0.0.1@evil.example', 'evil.example'],
  ['allow-host', 'pay.example.com:8080', 'pay.example.com:8080'],
  ['allow-host', 'localhost,192.168.1.5', '192.168.1.5'],
];
const CLOSED: readonly (readonly [string, string])[] = [
  ['listen-addr', '127.0.0.1:1'],
  ['listen-addr', 'localhost:1'],
  ['listen-addr', '[::1]:1'],
  ['listen-addr', '127.8.8.8:1'],
  ['sidecar-url', 'http://localhost:8080/x'],
  ['sidecar-url', 'http://[::1]:8080'],
  ['allow-host', 'wallet.localhost,LOCALHOST:80,127.0.0.2:1,[::1]:5,::1'],
];

describe('what would let others use the default wallet without a header is refused', () => {
  for (const [flag, value, host] of OPEN) {
    test(`--${flag} ${value}, naming the flag, the host and --require-auth`, () => {
      const message = refusal(withSeed({ [flag]: value })) ?? '';
      expect(message).toStartWith(`--${flag} names ${host}, `);
      expect(message).toContain('add --require-auth');
      expect(message).not.toContain(SEED);
    });

    test(`--${flag} ${value} is taken with --require-auth, and without a default wallet`, () => {
      expect(refusal(withSeed({ [flag]: value, 'require-auth': true }))).toBeNull();
      expect(refusal(load({ [flag]: value }))).toBeNull();
    });
  }

  for (const [flag, value] of CLOSED) {
    test(`--${flag} ${value} is taken`, () => {
      expect(refusal(withSeed({ [flag]: value }))).toBeNull();
    });
  }

  test('client credentials count as a default wallet too', () => {
    const config = { ...load({ 'listen-addr': '0.0.0.0:1' }), clientCredentials: 'x' };
    expect(refusal(config)).toMatch(/^--listen-addr names 0\.0\.0\.0/);
  });

  test('--address-domain counts where the default wallet is on a real node', () => {
    const config = withSeed({ 'address-domain': 'example.com' });
    expect(refusal(config, true)).toMatch(/^--address-domain names example\.com, .*--require-auth/);
    expect(refusal(config, false)).toBeNull();
    expect(refusal(withSeed({ 'address-domain': 'localhost:5393' }), true)).toBeNull();
  });
});

test('names are out of reach where the URL of their callbacks is not https, or is not given', () => {
  const unreachable = (flags: Flags) => hasUnreachableNames(load(flags));
  const domain = { 'address-domain': 'example.com' };
  expect(unreachable({})).toBe(false);
  expect(unreachable(domain)).toBe(true);
  expect(unreachable({ ...domain, 'sidecar-url': 'http://example.com' })).toBe(true);
  expect(unreachable({ ...domain, 'sidecar-url': 'https://example.com' })).toBe(false);
  expect(unreachable({ 'address-domain': 'names.localhost' })).toBe(false);
});

test('--rate-source names sources, of which there are none unless given; a wrong one is not quoted', () => {
  expect(load({}).rateSources).toEqual([]);
  const own = 'https://rates.example/{currency}.json?key=secret#/price';
  const names = load({ 'rate-source': ['kraken', own] }).rateSources.map(({ name }) => name);
  expect(names).toEqual(['kraken', 'rates.example']);
  const wrong = () => load({ 'rate-source': ['https://rates.example/eur?key=secret'] });
  expect(wrong).toThrow(/--rate-source must be one of kraken, .*\{currency\}/);
  expect(wrong).not.toThrow(/secret/);
});

test('--address-domain is a domain in lower case with its port, and --trusted-proxy an address', () => {
  expect(load({ 'address-domain': 'Example.COM' }).addressDomain).toBe('example.com');
  expect(load({ 'address-domain': '127.0.0.1:5393' }).addressDomain).toBe('127.0.0.1:5393');
  for (const domain of [
    'example.com/x',
    'a@example.com',
    'https://example.com',
    'exa mple.com',
    '*',
  ]) {
    expect(() => load({ 'address-domain': domain })).toThrow(/--address-domain must be a domain/);
  }
  const proxies = load({ 'trusted-proxy': ['127.0.0.1', '::FFFF:192.0.2.1'] }).trustedProxies;
  expect(proxies).toEqual(['127.0.0.1', '192.0.2.1']);
  for (const proxy of ['localhost', '10.0.0.0/8', '127.0.0.1:80']) {
    expect(() => load({ 'trusted-proxy': [proxy] })).toThrow(/must be an IP address/);
  }
});

describe('loopback', () => {
  test('is localhost, names below it, 127.0.0.0/8 and ::1, in every spelling', () => {
    for (const host of ['localhost', 'LocalHost.', 'a.b.localhost', '127.1', '0x7f.1', '0:0::1']) {
      expect([host, isLoopbackHost(host)]).toEqual([host, true]);
    }
  });

  test('is nothing that only looks like it', () => {
    const others = ['', 'notlocalhost', 'localhost.evil.example', '127.0.0.1.evil.example', '::2'];
    for (const host of [...others, 'localhost/x', 'a@localhost', '128.0.0.1', '0.0.0.0', '::']) {
      expect([host, isLoopbackHost(host)]).toEqual([host, false]);
    }
  });

  test('addresses that stand for all are called by loopback', () => {
    expect(localUrl({ host: '0.0.0.0', port: 1 })).toBe('http://127.0.0.1:1');
    expect(localUrl({ host: '::', port: 1 })).toBe('http://[::1]:1');
    expect(localUrl({ host: '::1', port: 1 })).toBe('http://[::1]:1');
    expect(localUrl({ host: '192.168.1.5', port: 1 })).toBe('http://192.168.1.5:1');
    expect(localUrl({ host: 'localhost', port: 1 })).toBe('http://localhost:1');
  });
});
