import { Database, SQLiteError } from 'bun:sqlite';
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { useWriteAheadLog } from '../../lib/databases/write-ahead-log.ts';
import { failureCode } from '../../lib/files/file-problem.ts';
import { StoreUnusable } from '../unusable.ts';
import { migrate, SCHEMA_VERSION } from './migrations/index.ts';
import { PARTS } from './schema.ts';
import { packOnce, prepareRelease } from './space.ts';

/** How long opening waits for another program's lock. Nothing else runs at the start yet, so waiting harms nothing. */
const OPENING_BUSY_MS = 5000;
/** How long SQLite waits for a lock, blocking the event loop; longer ones are left to the write queue. */
const BUSY_MS = 20;

/**
 * Opens a SQLite database with durable commits (docs/decisions.md 85) and brings its schema up to date in one
 * transaction. The file is created readable by its owner only. Throws {@link StoreUnusable} for a corrupted file and
 * for a file of a newer version, neither of which it changes, and for a file that cannot be read and written.
 */
export function openDatabase(path: string): Database {
  let db: Database | null = null;
  try {
    if (path !== ':memory:') requireAccess(path);
    db = new Database(path, { create: true, readwrite: true, safeIntegers: false });
    prepare(db, path);
    if (path !== ':memory:') chmodSync(path, 0o600);
    return db;
  } catch (error) {
    db?.close();
    throw asUnusable(error, path);
  }
}

/** Creates a missing file and checks access: SQLite does not tell another user's file from a read-only disk. */
function requireAccess(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
  accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(dirname(path), constants.W_OK);
}

function prepare(db: Database, path: string): void {
  db.run(`PRAGMA busy_timeout = ${OPENING_BUSY_MS}`);
  const { user_version: version } = db.query('PRAGMA user_version').get() as {
    user_version: number;
  };
  if (version > SCHEMA_VERSION) {
    throw new StoreUnusable(
      `${path} was written by a newer version of wallet-sidecar (schema ${version}, this version knows ${SCHEMA_VERSION}): start that version, or use another --data-dir.`,
    );
  }
  if (version === 0) {
    requireEmpty(db, path);
    prepareRelease(db);
  } else {
    checkQuickly(db, path);
    if (version === SCHEMA_VERSION) requireWhole(db, path);
  }
  // WAL mode writes into the file, so it is set only after the checks.
  useWriteAheadLog(db);
  db.run('PRAGMA cache_size = -16000');
  if (version < SCHEMA_VERSION) {
    db.transaction(() => {
      migrate(db, version);
      if (version > 0) requireWhole(db, path);
    }).immediate();
  }
  packOnce(db);
  // Packing would need as much memory as the file is large.
  db.run('PRAGMA temp_store = MEMORY');
  db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
}

function requireEmpty(db: Database, path: string): void {
  const { tables } = db.query('SELECT count(*) AS tables FROM sqlite_schema').get() as {
    tables: number;
  };
  if (tables > 0) {
    throw new StoreUnusable(`${path} is not a database of wallet-sidecar: move it away.`);
  }
}

/** Reads a row of every table, so that a corrupted file is found now and not in the middle of a payment. */
function checkQuickly(db: Database, path: string): void {
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all();
  if (tables.length === 0) throw new StoreUnusable(sentence(path, CORRUPTED));
  for (const { name } of tables) db.query(`SELECT * FROM "${name}" LIMIT 1`).get();
}

/**
 * Throws where a column, an index or the row that identifies the file is missing. Statements are prepared when they are
 * first used, so such a file would otherwise be found in the middle of a payment.
 */
function requireWhole(db: Database, path: string): void {
  const parts = db
    .query<{ part: string }, []>(
      `SELECT t.name || '.' || c.name AS part FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table'
       UNION ALL SELECT name FROM sqlite_schema WHERE type = 'index'`,
    )
    .all();
  const found = new Set(parts.map(({ part }) => part));
  const isWhole = PARTS.every((part) => found.has(part)) && db.query('SELECT 1 FROM meta').get();
  if (!isWhole) throw new StoreUnusable(sentence(path, CORRUPTED));
}

const CORRUPTED =
  'is corrupted: keep a copy of the file, then restore it from a backup or move it away to start with an empty one. It was not changed.';
const NOT_OURS =
  'cannot be opened for reading and writing by this user: give this user the file and its directory (chown), or use another --data-dir.';
const READ_ONLY =
  'cannot be written, since the file, its directory or the disk is read-only: make it writable, or use another --data-dir.';
const FULL = 'cannot be written, since the disk is full: free space, then start again.';
const FAILING =
  'cannot be read or written, since the disk is failing: check the disk, and restore the file from a backup to a disk that works.';
const LOCKED =
  'is locked by another program: end that program, then start again, or use another --data-dir.';

/** What is wrong and what to do about it, by the error code of the system or of SQLite. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_(CORRUPT|NOTADB)/, CORRUPTED],
  [/^(EACCES|EPERM|SQLITE_CANTOPEN|SQLITE_PERM|SQLITE_AUTH)/, NOT_OURS],
  [/^(EROFS|SQLITE_READONLY)/, READ_ONLY],
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)/, FULL],
  [/^(EIO|SQLITE_IOERR)/, FAILING],
  [/^SQLITE_(BUSY|LOCKED|PROTOCOL)/, LOCKED],
];

function asUnusable(error: unknown, path: string): unknown {
  const code = failureCode(error, path);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new StoreUnusable(
      `${path} cannot be made, since ${dirname(path)} is not a directory: create that directory, or use another --data-dir.`,
      { cause: error },
    );
  }
  const reason = isLacking(error) ? CORRUPTED : REASONS.find(([codes]) => codes.test(code))?.[1];
  return reason === undefined ? error : new StoreUnusable(sentence(path, reason), { cause: error });
}

/** Whether a step of the schema did not find a table or another part of an earlier version. */
function isLacking(error: unknown): boolean {
  return error instanceof SQLiteError && /^no such (table|column|index)/.test(error.message);
}

function sentence(path: string, reason: string): string {
  return `${path} ${reason}`;
}
