import { hex } from '@scure/base';
import { isLoopbackHost } from '../lib/network/loopback-host.ts';
import type { Parsed } from '../model/parsed.ts';
import { parseBaseUrl } from './network.ts';
import { ConfigError, type Found, parseFound } from './sources.ts';

/** The PostgreSQL database that is used in the place of files. */
export interface DatabaseConfig {
  /** It may hold a password, so it appears in no message. */
  readonly url: string;
  /** 32 bytes, with which secrets are sealed (docs/decisions.md 138). */
  readonly secretsKey: Uint8Array;
  /** How long the lease lasts by which one sidecar has the database, in milliseconds. */
  readonly leaseMs: number;
  /** The base URL at which other sidecars reach this one; null without standing by (docs/decisions.md 139). */
  readonly peerUrl: string | null;
  readonly warnings: readonly string[];
}

const ENCRYPTED = ['require', 'verify-ca', 'verify-full'];

interface DatabaseSettings {
  readonly url: Found | null;
  readonly key: Uint8Array | null;
  readonly leaseSecs: Found | null;
  readonly peerUrl: Found | null;
}

const LEASE_MS = 10_000;
const [LEAST_LEASE_SECS, MOST_LEASE_SECS] = [2, 60];

/** Returns the database that the settings name; null where they name none. Throws {@link ConfigError}. */
export function databaseOf({
  url,
  key,
  leaseSecs,
  peerUrl,
}: DatabaseSettings): DatabaseConfig | null {
  if (url === null) {
    requireDatabase(leaseSecs, 'is for the lease of a PostgreSQL database');
    requireDatabase(peerUrl, 'is for sidecars that share a PostgreSQL database');
    return null;
  }
  const parsed = parseFound(url, asDatabaseUrl);
  if (key === null) {
    throw new ConfigError(
      `${url.source} needs --secrets-key-path, since secrets are sealed in a shared database: make a key with "wallet-sidecar secrets-key" and keep it apart from the database.`,
    );
  }
  return {
    url: parsed.href,
    secretsKey: key,
    leaseMs: leaseSecs ? parseFound(leaseSecs, asLeaseSecs) * 1000 : LEASE_MS,
    peerUrl: peerUrl && parseFound(peerUrl, parseBaseUrl),
    warnings: isReadableOnTheWay(parsed)
      ? [
          'The connection to the database may be read and changed on its way: add sslmode=verify-full to --database-url.',
        ]
      : [],
  };
}

function requireDatabase(found: Found | null, purpose: string): void {
  if (found === null) return;
  throw new ConfigError(`${found.source} ${purpose}: set --database-url too, or leave it out.`);
}

function asLeaseSecs(text: string): Parsed<number> {
  const value = Number(text);
  return /^\d{1,2}$/.test(text) && value >= LEAST_LEASE_SECS && value <= MOST_LEASE_SECS
    ? { value }
    : {
        problem: `must be a whole number of seconds from ${LEAST_LEASE_SECS} to ${MOST_LEASE_SECS}`,
      };
}

function asDatabaseUrl(text: string): Parsed<URL> {
  const url = URL.parse(text);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) {
    return { problem: 'must be a URL such as postgres://user:password@host:5432/name' };
  }
  return { value: url };
}

/** Reads a key of 32 bytes, for `parse`. */
export function asSecretsKey(text: string): Parsed<Uint8Array> {
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
