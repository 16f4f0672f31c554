import { codeOf } from '../error-code.ts';

/**
 * Why PostgreSQL could not read or write. `away`: the connection could not be made or was cut. `failing`: the disk is
 * full or failing, there are too many connections, or the database takes no writes. `conflict`: another transaction had
 * a lock, and the same work may be tried again.
 */
export type PostgresFailure = 'away' | 'failing' | 'conflict';

/** Connections that were cut or refused, by SQLSTATE: class 08, and the server's own endings of a session. */
const AWAY = /^(08|57P0|25P03)/;
/** Class 53 is a lack of resources, 58 an error of the system, 25006 a database that is a read-only copy. */
const FAILING = /^(53|58|25006)/;
const CONFLICT = /^(40001|40P01|55P03)/;

/** Returns why a statement of Bun's client for PostgreSQL failed; null for every other error. */
export function postgresFailure(error: unknown): PostgresFailure | null {
  if (/^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME|TLS)/.test(codeOf(error))) return 'away';
  const state = sqlState(error);
  if (AWAY.test(state)) return 'away';
  if (FAILING.test(state)) return 'failing';
  return CONFLICT.test(state) ? 'conflict' : null;
}

/** Returns the SQLSTATE that the server sent, such as `23505`. Empty for an error without one. */
export function sqlState(error: unknown): string {
  if (!codeOf(error).startsWith('ERR_POSTGRES_')) return '';
  const state = (error as { errno?: unknown }).errno;
  return typeof state === 'string' ? state : '';
}
