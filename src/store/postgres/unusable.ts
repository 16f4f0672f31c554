import { postgresFailure, sqlState } from '../../lib/databases/postgres-failure.ts';
import { StoreUnusable } from '../unusable.ts';

/** What is wrong when a database is opened and what to do about it, by SQLSTATE. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'refuses this user: check the user, the password and pg_hba.conf'],
  [/^3D/, 'is not there: create it with "createdb", or name another'],
  [/^(42501|25006)/, 'does not let this user write: make the user its owner, or name another'],
  [/^53300/, 'has no free connection: raise max_connections, or end other programs'],
  [/^53/, 'has no free space or memory: free some, then start again'],
];

/**
 * Returns an error that a person can act on for one that was thrown while the database was opened, or the error
 * unchanged. The database is named without user and password.
 */
export function whyUnusable(error: unknown, url: string): unknown {
  const state = sqlState(error);
  const reason = REASONS.find(([states]) => states.test(state))?.[1];
  if (reason !== undefined) {
    return new StoreUnusable(`The database ${databaseName(url)} ${reason}.`, { cause: error });
  }
  if (postgresFailure(error) !== 'away') return error;
  return new StoreUnusable(
    `The database ${databaseName(url)} cannot be reached: check that PostgreSQL runs and that --database-url names it.`,
    { cause: error },
  );
}

/** Returns how a person knows a database, without user and password. */
export function databaseName(url: string): string {
  const { host, pathname } = new URL(url);
  return `${decodeURIComponent(pathname.slice(1))} at ${host || 'a local socket'}`;
}
