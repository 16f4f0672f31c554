import { Database } from 'bun:sqlite';
import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import { MIGRATIONS } from './migrations/index.ts';

/** A database file that must not be used as it is; the message says what to do. */
export class StoreUnusable extends Error {
  override readonly name = 'StoreUnusable';
}

/**
 * Opens a SQLite database with the settings that money needs and brings its schema up to date in one transaction.
 * The file is created readable by its owner only. Throws {@link StoreUnusable} for a corrupted file and for one
 * that a newer version wrote; neither is touched.
 */
export function openDatabase(path: string): Database {
  if (path !== ':memory:' && !existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
  const db = new Database(path, { create: true, readwrite: true, safeIntegers: false });
  try {
    prepare(db, path);
  } catch (error) {
    db.close();
    throw asUnusable(error, path);
  }
  if (path !== ':memory:') chmodSync(path, 0o600);
  return db;
}

function prepare(db: Database, path: string): void {
  const { user_version: version } = db.query('PRAGMA user_version').get() as {
    user_version: number;
  };
  if (version > MIGRATIONS.length) {
    throw new StoreUnusable(
      `${path} was written by a newer version of wallet-sidecar (schema ${version}, this version knows ${MIGRATIONS.length}): start that version, or use another --data-dir.`,
    );
  }
  if (version === 0) requireEmpty(db, path);
  else checkQuickly(db, path);
  // Only now, since it writes into the file.
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = FULL');
  db.run('PRAGMA busy_timeout = 5000');
  db.run('PRAGMA temp_store = MEMORY');
  db.run('PRAGMA cache_size = -16000');
  if (version < MIGRATIONS.length) migrate(db, version);
}

function requireEmpty(db: Database, path: string): void {
  const { tables } = db.query('SELECT count(*) AS tables FROM sqlite_schema').get() as {
    tables: number;
  };
  if (tables > 0) {
    throw new StoreUnusable(`${path} is not a database of wallet-sidecar: move it away.`);
  }
}

/** Reads every table once, so that a broken file is found now and not in the middle of a payment. */
function checkQuickly(db: Database, path: string): void {
  const tables = db.query("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
    name: string;
  }[];
  if (tables.length === 0) throw new StoreUnusable(corrupted(path));
  for (const { name } of tables) db.query(`SELECT * FROM "${name}" LIMIT 1`).get();
}

function migrate(db: Database, from: number): void {
  db.transaction(() => {
    for (const step of MIGRATIONS.slice(from)) db.run(step);
    db.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
  }).immediate();
}

function asUnusable(error: unknown, path: string): unknown {
  const code = (error as { code?: string }).code;
  return code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB'
    ? new StoreUnusable(corrupted(path), { cause: error })
    : error;
}

function corrupted(path: string): string {
  return `${path} is corrupted: stop here, keep a copy of the file, and restore it from a backup or move it away to start with an empty one. It was not changed.`;
}
