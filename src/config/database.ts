import { hex } from '@scure/base';
import { isLoopbackHost } from '../lib/loopback-host.ts';
import type { Parsed } from '../model/parsed.ts';
import { ConfigError, type Found, parseFound } from './sources.ts';

/** The PostgreSQL database that is used in the place of files. */
export interface DatabaseConfig {
  /** It may hold a password, so it appears in no message. */
  readonly url: string;
  /** 32 bytes, with which secrets are sealed (docs/decisions.md 138). */
  readonly secretsKey: Uint8Array;
  readonly warnings: readonly string[];
}

const ENCRYPTED = ['require', 'verify-ca', 'verify-full'];

/** Returns the database that the settings name; null where they name none. Throws {@link ConfigError}. */
export function databaseOf(url: Found | null, key: Found | null): DatabaseConfig | null {
  if (url === null) {
    if (key === null) return null;
    throw new ConfigError(
      `${key.source} is for secrets in a PostgreSQL database: set --database-url too, or leave it out.`,
    );
  }
  const parsed = parseFound(url, asDatabaseUrl);
  if (key === null) {
    throw new ConfigError(
      `${url.source} needs --secrets-key-path, since secrets are sealed in a shared database: make a key with "wallet-sidecar secrets-key" and keep it apart from the database.`,
    );
  }
  return {
    url: parsed.href,
    secretsKey: parseFound(key, asSecretsKey),
    warnings: isReadableOnTheWay(parsed)
      ? [
          'The connection to the database may be read and changed on its way: add sslmode=verify-full to --database-url.',
        ]
      : [],
  };
}

function asDatabaseUrl(text: string): Parsed<URL> {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) {
    return { problem: 'must be a URL such as postgres://user:password@host:5432/name' };
  }
  return { value: url };
}

function asSecretsKey(text: string): Parsed<Uint8Array> {
  return /^[0-9a-f]{64}$/i.test(text)
    ? { value: hex.decode(text.toLowerCase()) }
    : {
        problem:
          'does not hold a key: 64 hex characters, as "wallet-sidecar secrets-key" prints them',
      };
}

function isReadableOnTheWay({ hostname, searchParams }: URL): boolean {
  if (hostname === '' || isLoopbackHost(hostname)) return false;
  return !ENCRYPTED.includes(searchParams.get('sslmode') ?? '');
}
