import { Database } from 'bun:sqlite';
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { useWriteAheadLog } from '../../lib/databases/write-ahead-log.ts';
import { failureCode } from '../../lib/files/file-problem.ts';
import { StoreUnusable } from '../unusable.ts';
import { migrate, SCHEMA_VERSION } from './migrations/index.ts';
import { TABLES } from './schema.ts';
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
    checkQuickly(db, path, version);
  }
  // WAL mode writes into the file, so it is set only after the checks.
  useWriteAheadLog(db);
  db.run('PRAGMA cache_size = -16000');
  if (version < SCHEMA_VERSION) db.transaction(() => migrate(db, version)).immediate();
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

/**
 * Reads a row of every table, so that a corrupted file is found now and not in the middle of a payment. Statements are
 * prepared when they are used, so a table that is missing is looked for too.
 */
function checkQuickly(db: Database, path: string, version: number): void {
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => name);
  const isMissing = (name: string) => !tables.includes(name);
  if (tables.length === 0 || (version === SCHEMA_VERSION && TABLES.some(isMissing)))
    throw new StoreUnusable(sentence(path, CORRUPTED));
  for (const name of tables) db.query(`SELECT * FROM "${name}" LIMIT 1`).get();
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
  const reason = REASONS.find(([codes]) => codes.test(code))?.[1];
  return reason === undefined ? error : new StoreUnusable(sentence(path, reason), { cause: error });
}

function sentence(path: string, reason: string): string {
  return `${path} ${reason}`;
}
