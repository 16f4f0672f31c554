import { codeOf } from '../error-code.ts';

/**
 * Returns why SQLite could not read or write: `locked` when another program has the lock, `failing` when the disk is
 * full, failing or read-only. Null for every other error.
 */
export function sqliteFailure(error: unknown): 'locked' | 'failing' | null {
  const code = codeOf(error);
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) return 'locked';
  return /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(code) ? 'failing' : null;
}
