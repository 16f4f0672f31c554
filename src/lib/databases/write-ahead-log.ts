import type { Database } from 'bun:sqlite';

/** The log is moved into the database when it has about this size, and is cut to this size then. */
const LOG_BYTES = 16 * 1024 * 1024;

/**
 * Writes commits to a log beside the file, and flushes each to the disk before it counts. Moving the log into the file
 * flushes both, so it is done less often than by SQLite's own default (4 MB), because most pages of a log are the same
 * few again and again. A start after a crash reads what is in the log.
 */
export function useWriteAheadLog(db: Database): void {
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = FULL');
  const { page_size: pageBytes } = db.query('PRAGMA page_size').get() as { page_size: number };
  db.run(`PRAGMA wal_autocheckpoint = ${LOG_BYTES / pageBytes}`);
  db.run(`PRAGMA journal_size_limit = ${LOG_BYTES}`);
}
