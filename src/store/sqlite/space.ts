import type { Database } from 'bun:sqlite';
import { sqliteFailure } from '../../lib/sqlite-failure.ts';
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
 * Lets a file of an earlier version give free pages back, and packs it once. That needs as much free disk as the file
 * has rows; when the disk has less, the file stays as it is and the next start tries again.
 */
export function packOnce(db: Database): void {
  if (pragma(db, 'auto_vacuum') === INCREMENTAL) return;
  try {
    prepareRelease(db);
    db.run('VACUUM');
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
