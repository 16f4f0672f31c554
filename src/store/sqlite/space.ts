import type { Database } from 'bun:sqlite';
import { dirname, resolve } from 'node:path';
import { sqliteFailure } from '../../lib/databases/sqlite-failure.ts';
import type { WriteQueue } from './write-queue.ts';

/** The value of `PRAGMA auto_vacuum` for a file that gives free pages back when it is told to. */
const INCREMENTAL = 2;
/** Free pages are kept for new rows up to this part of the file. */
const KEPT_PART = 1 / 8;
/** Pages that one write gives back, so that other writes need not wait for long. */
const PAGES_AT_ONCE = 256;

/** Lets a new, empty file give free pages back to the disk. Must run before anything is written into it. */
export function prepareRelease(db: Database): void {
  db.run(`PRAGMA auto_vacuum = ${INCREMENTAL}`);
}

/**
 * Lets a file of an earlier version give free pages back, and packs it once. That needs twice as much free disk as the
 * file has rows; when the disk has less, the file stays as it is and the next start tries again.
 */
export function packOnce(db: Database): void {
  if (pragma(db, 'auto_vacuum') === INCREMENTAL) return;
  try {
    prepareRelease(db);
    besideFile(db, () => db.run('VACUUM'));
  } catch (error) {
    if (sqliteFailure(error) !== 'failing') throw error;
  }
  cutLog(db);
}

/**
 * Keeps temporary files of `work` beside the database: they hold secrets as the database does, so they stay on the same
 * disk. They have no name, and go with the process.
 */
function besideFile(db: Database, work: () => void): void {
  const folder = dirname(resolve(db.filename));
  try {
    db.run(`PRAGMA temp_store_directory = '${folder.replaceAll("'", "''")}'`);
    work();
  } finally {
    db.run("PRAGMA temp_store_directory = ''");
  }
}

/** Empties the write-ahead log, which packing fills with the whole file, also where it fails for want of disk. */
function cutLog(db: Database): void {
  try {
    db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (sqliteFailure(error) !== 'failing') throw error;
  }
}

/** Gives free pages back to the disk in small steps, until only a part worth keeping for new rows is left. */
export async function releaseSpace(
  db: Database,
  queue: WriteQueue,
  signal: AbortSignal,
): Promise<void> {
  const surplus = () =>
    pragma(db, 'freelist_count') - Math.ceil(pragma(db, 'page_count') * KEPT_PART);
  // A file that could not be packed gives nothing back.
  if (pragma(db, 'auto_vacuum') !== INCREMENTAL) return;
  for (let pages = surplus(); pages > 0 && !signal.aborted; pages = surplus()) {
    const step = Math.min(pages, PAGES_AT_ONCE);
    await queue.write(() => db.query(`PRAGMA incremental_vacuum(${step})`).all());
  }
}

function pragma(db: Database, name: 'auto_vacuum' | 'freelist_count' | 'page_count'): number {
  const row = db.query<Record<string, number>, []>(`PRAGMA ${name}`).get();
  return row?.[name] ?? 0;
}
