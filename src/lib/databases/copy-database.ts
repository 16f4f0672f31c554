import { Database } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';

/**
 * Copies a SQLite file as it is at one moment, while others read and write it. The copy is one
 * file, readable by its owner only, and on the disk only once the caller has flushed it. Throws where a file of that
 * name exists.
 */
export function copyDatabase(from: string, to: string): void {
  closeSync(openSync(to, 'wx', 0o600));
  // Opened for writing, so that a log that a stopped program left is not left once more. Nothing else is written.
  const db = new Database(from, { readwrite: true, create: false });
  try {
    db.run('PRAGMA busy_timeout = 5000');
    db.query('VACUUM INTO ?').run(to);
  } finally {
    db.close();
  }
}

/** Returns the version of the schema that a SQLite file says. It writes nothing. */
export function schemaVersionOf(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    return db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
  } finally {
    db.close();
  }
}
