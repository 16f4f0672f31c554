import { codeOf } from './error-code.ts';

/**
 * Why SQLite could not read or write: another program has the lock, or the disk is full, failing or read-only. Null for
 * every other error.
 */
export function sqliteFailure(error: unknown): 'locked' | 'failing' | null {
  const code = codeOf(error);
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) return 'locked';
  return /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(code) ? 'failing' : null;
}
