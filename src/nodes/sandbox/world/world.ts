import { Database } from 'bun:sqlite';
import { chmodSync, closeSync, existsSync, openSync } from 'node:fs';
import type { Clock } from '../../../lib/clock.ts';
import { type GroupCommit, groupCommit } from '../../../lib/databases/group-commit.ts';
import { useWriteAheadLog } from '../../../lib/databases/write-ahead-log.ts';
import { codeOf } from '../../../lib/error-code.ts';
import type { Log } from '../../../lib/log.ts';
import { asStorageError } from '../../../model/storage-error.ts';
import { migrate, SCHEMA_VERSION } from './migrations.ts';
import { closeFile } from './rows.ts';

/** The world's clock: the machine's clock plus an offset, which requests may increase (docs/decisions.md 78). */
interface MovableClock extends Clock {
  /** Moves the clock forward; it stays so over restarts. Durable when it returns. */
  advance(ms: number): void;
}

/** The simulated Bitcoin and Lightning world, in one SQLite file. */
export interface World extends GroupCommit {
  readonly db: Database;
  readonly clock: MovableClock;
  random(bytes: number): Uint8Array;
  readonly warn: Log['warn'];
  /** False after the world was closed; delayed work must check it. */
  isOpen(): boolean;
  /** Commits pending changes and closes the file. Throws `overCapacity` when the disk is full. */
  close(): void;
}

/** What a world is opened with. */
export interface WorldOptions {
  /** File of the world, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** Takes what nobody who calls could be told. */
  readonly warn: Log['warn'];
}

/** Opens, creates or migrates the world. Throws, naming the file, when it is corrupted or of a later version. */
export function openWorld(options: WorldOptions): World {
  const { path } = options;
  if (path !== ':memory:' && !existsSync(path)) closeSync(openSync(path, 'wx', 0o600));
  const db = new Database(path);
  try {
    prepare(db, path);
  } catch (error) {
    db.close();
    throw unusable(error, path);
  }
  if (path !== ':memory:') chmodSync(path, 0o600);
  const commits = groupCommit(db, asStorageError);
  let open = true;
  return {
    db,
    clock: movableClock(db, options.clock, commits),
    random: options.random,
    warn: options.warn,
    ...commits,
    isOpen: () => open,
    close() {
      open = false;
      try {
        commits.commit();
      } finally {
        closeFile(db);
      }
    },
  };
}

function prepare(db: Database, path: string): void {
  // A copy of the file that is being made, or an earlier process that is ending, may hold it for a moment.
  db.run('PRAGMA busy_timeout = 5000');
  const row = db.query<{ user_version: number }, []>('PRAGMA user_version').get();
  const version = row?.user_version ?? 0;
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `${path} is a sandbox of a later version: use that version, or move the file away to start a new sandbox; its coins are worthless.`,
    );
  }
  useWriteAheadLog(db);
  db.run('PRAGMA temp_store = MEMORY');
  if (version === SCHEMA_VERSION) db.query('SELECT offset_ms FROM clock').get();
  else migrate(db, version);
}

function unusable(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code !== 'SQLITE_CORRUPT' && code !== 'SQLITE_NOTADB') return error;
  return new Error(
    `${path} is corrupted: move it away to start a new sandbox. It was not changed.`,
    {
      cause: error,
    },
  );
}

function movableClock(db: Database, base: Clock, { commit }: GroupCommit): MovableClock {
  const row = db.query<{ offset_ms: number }, []>('SELECT offset_ms FROM clock').get();
  let offsetMs = row?.offset_ms ?? 0;
  return {
    now: () => base.now() + offsetMs,
    advance(ms) {
      db.query('UPDATE clock SET offset_ms = offset_ms + ?').run(ms);
      commit();
      offsetMs += ms;
    },
  };
}
