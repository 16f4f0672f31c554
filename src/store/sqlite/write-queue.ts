import type { Database } from 'bun:sqlite';
import { backoffDelayMs } from '../../lib/backoff.ts';
import { sqliteFailure } from '../../lib/sqlite-failure.ts';
import { asStorageError } from '../../model/storage-error.ts';

/**
 * Writes of the same turn of the event loop share one durable commit: each is a savepoint of its own, so one that
 * fails undoes nothing of the others. They run in the order they were asked for, and resolve after the commit. While
 * another program holds the database locked they wait without blocking the event loop, and are rejected with
 * `overCapacity` after {@link LOCKED_LIMIT_MS}.
 */
export interface WriteQueue {
  write<T>(work: () => T): Promise<T>;
}

interface Pending {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  /** How long it has waited for a lock of another program. */
  waitedMs: number;
}

type Settle = () => void;

/** Most that a write waits for another program's lock. */
const LOCKED_LIMIT_MS = 5000;
const RETRY = { firstMs: 5, mostMs: 100, jitter: 0.5, random: Math.random };

/** A write queue over one connection, which must be used for writing by nobody else. */
export function writeQueue(db: Database): WriteQueue {
  let pending: Pending[] = [];
  let lockedAttempts = 0;
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT w');
  const release = db.prepare('RELEASE w');
  const rollbackTo = db.prepare('ROLLBACK TO w');

  function flush(): void {
    try {
      begin.run();
    } catch (error) {
      if (sqliteFailure(error) === 'locked') waitForLock(error);
      else rejectAll(take(), error);
      return;
    }
    lockedAttempts = 0;
    const batch = take();
    const settle: Settle[] = [];
    try {
      for (const write of batch) settle.push(runOne(write, batch.length > 1));
      commit.run();
    } catch (error) {
      if (db.inTransaction) db.run('ROLLBACK');
      rejectAll(batch, error);
      return;
    }
    for (const done of settle) done();
  }

  function take(): Pending[] {
    const batch = pending;
    pending = [];
    return batch;
  }

  /** Nothing of the batch has run: it stays in order, and later writes join it. */
  function waitForLock(error: unknown): void {
    lockedAttempts += 1;
    const delayMs = backoffDelayMs(lockedAttempts, RETRY);
    const waited = take();
    for (const write of waited) {
      if (write.waitedMs >= LOCKED_LIMIT_MS) write.reject(asStorageError(error));
      else pending.push(write);
      write.waitedMs += delayMs;
    }
    if (pending.length > 0) setTimeout(flush, delayMs);
  }

  function runOne(write: Pending, shared: boolean): Settle {
    savepoint.run();
    try {
      const value = write.work();
      release.run();
      return () => write.resolve(value as never);
    } catch (error) {
      // A full disk may have ended the whole transaction; then nothing of the batch is kept.
      if (!db.inTransaction) throw error;
      rollbackTo.run();
      release.run();
      if (!shared && sqliteFailure(error) !== null) throw error;
      return () => write.reject(asStorageError(error));
    }
  }

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        pending.push({ work, resolve, reject, waitedMs: 0 });
        if (pending.length === 1) setImmediate(flush);
      }),
  };
}

function rejectAll(batch: readonly Pending[], error: unknown): void {
  for (const { reject } of batch) reject(asStorageError(error));
}
