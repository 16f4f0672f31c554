import { afterAll, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hex } from '@scure/base';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/sources.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';

const folder = temporaryFolder('database-config');
afterAll(() => removeFolder(folder));

const KEY = 'ab'.repeat(32);
const URL = 'postgres://sidecar:geheim@127.0.0.1:5432/wallets';
const load = (env: Record<string, string>, flags: Record<string, string> = {}) =>
  loadConfig({ env: { HOME: '/h', ...env }, flags, cwd: folder });
const problemOf = (env: Record<string, string>, flags: Record<string, string> = {}) => {
  try {
    load(env, flags);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  return 'no problem';
};
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};

test('without a URL there is no PostgreSQL database', () => {
  expect(load({}).database).toBeNull();
});

test('the URL and the key come from the environment or from files, and draw no warning there', () => {
  const given = load({ SERVICE_DATABASE_URL: URL, SERVICE_SECRETS_KEY: KEY });
  const read = load({
    SERVICE_DATABASE_URL_PATH: file('url', `${URL}\n`),
    SERVICE_SECRETS_KEY_PATH: file('key', `${KEY}\n`),
  });
  for (const { database, warnings } of [given, read]) {
    expect(database).toEqual({
      url: URL,
      secretsKey: new Uint8Array(32).fill(0xab),
      leaseMs: 10_000,
      peerUrl: null,
      warnings: [],
    });
    expect(warnings).toEqual([]);
  }
});

test('as flags they draw a warning that names the -path twin and shows neither', () => {
  const { warnings } = load({}, { 'database-url': URL, 'secrets-key': KEY });
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toContain('use --database-url-path');
  expect(warnings[1]).toContain('use --secrets-key-path');
  expect(warnings.join()).not.toMatch(/geheim|abab/);
});

test('a file of them that others can read draws a warning', () => {
  const path = file('open', KEY);
  chmodSync(path, 0o644);
  const { warnings } = load({ SERVICE_DATABASE_URL: URL, SERVICE_SECRETS_KEY_PATH: path });
  expect(warnings.join()).toContain(path);
});

test('a database without a key is refused with what to do; a key alone is for the file', () => {
  expect(problemOf({ SERVICE_DATABASE_URL: URL })).toMatch(
    /SERVICE_DATABASE_URL .*needs --secrets-key-path.*wallet-sidecar secrets-key/,
  );
  const { database, secretsKey } = load({ SERVICE_SECRETS_KEY: KEY });
  expect(database).toBeNull();
  expect(hex.encode(secretsKey ?? new Uint8Array())).toBe(KEY);
});

test('the lease lasts from 2 to 60 seconds, and the URL for other sidecars is one of a server', () => {
  const base = { SERVICE_DATABASE_URL: URL, SERVICE_SECRETS_KEY: KEY };
  const lease = (secs: string) => ({ ...base, SERVICE_DATABASE_LEASE_SECS: secs });
  const peer = (url: string) => ({ ...base, SERVICE_PEER_URL: url });
  expect(load(lease('2')).database?.leaseMs).toBe(2000);
  expect(load(lease('60')).database?.leaseMs).toBe(60_000);
  for (const secs of ['1', '61', '2.5', 'a']) {
    expect(problemOf(lease(secs))).toMatch(/whole number of seconds from 2 to 60/);
  }
  expect(load(peer('http://10.0.0.2:5393/')).database?.peerUrl).toBe('http://10.0.0.2:5393');
  expect(problemOf(peer('10.0.0.2:5393'))).toMatch(/must be an http or https URL/);
  expect(problemOf(peer('http://a:b@10.0.0.2'))).toMatch(/without user, query and fragment/);
});

test('what only a database has is refused without one', () => {
  expect(problemOf({ SERVICE_PEER_URL: 'http://10.0.0.2:5393' })).toMatch(
    /SERVICE_PEER_URL .* share a PostgreSQL database: set --database-url too, or leave it out/,
  );
  expect(problemOf({ SERVICE_DATABASE_LEASE_SECS: '5' })).toMatch(/set --database-url too/);
});

test('a value and its file are not both set', () => {
  const both = { SERVICE_DATABASE_URL: URL, SERVICE_DATABASE_URL_PATH: file('both', URL) };
  expect(problemOf({ ...both, SERVICE_SECRETS_KEY: KEY })).toMatch(/are both set/);
});

test('no message shows a password or a key', () => {
  const problems = [
    problemOf({ SERVICE_DATABASE_URL: URL }),
    problemOf({ SERVICE_DATABASE_URL: 'mysql://a:geheim@h/d', SERVICE_SECRETS_KEY: KEY }),
    problemOf({ SERVICE_DATABASE_URL: 'postgres://a:geheim@h', SERVICE_SECRETS_KEY: KEY }),
    problemOf({ SERVICE_DATABASE_URL: 'a:geheim@h/d', SERVICE_SECRETS_KEY: KEY }),
    problemOf({ SERVICE_DATABASE_URL: URL, SERVICE_SECRETS_KEY: 'geheim' }),
  ];
  expect(problems).not.toContain('no problem');
  expect(problems.join()).not.toContain('geheim');
  expect(problems[1]).toContain('must be a URL such as postgres://');
  expect(problems[4]).toContain('does not hold a key: 64 hex characters');
});

test('a connection that leaves this machine unencrypted draws a warning', () => {
  const warningsOf = (url: string) =>
    load({ SERVICE_DATABASE_URL: url, SERVICE_SECRETS_KEY: KEY }).warnings;
  expect(warningsOf('postgres://a:geheim@db.example/w').join()).toMatch(/sslmode=verify-full/);
  expect(warningsOf('postgres://a:geheim@db.example/w?sslmode=prefer')).toHaveLength(1);
  expect(warningsOf('postgres://a:geheim@db.example/w?sslmode=verify-full')).toEqual([]);
  expect(warningsOf('postgres://a:geheim@[::1]/w')).toEqual([]);
});
