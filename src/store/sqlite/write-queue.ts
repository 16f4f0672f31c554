import type { Database } from 'bun:sqlite';
import { backoffDelayMs } from '../../lib/backoff.ts';
import { groupCommit } from '../../lib/group-commit.ts';
import { sqliteFailure } from '../../lib/sqlite-failure.ts';
import { asStorageError } from '../../model/storage-error.ts';

/**
 * Writes of the same turn of the event loop share one durable commit, and one that fails undoes nothing of the others.
 * They run in the order they were asked for, and resolve after the commit. While another program holds the database
 * locked they wait without blocking the event loop, and are rejected with `overCapacity` after
 * {@link LOCKED_LIMIT_MS}.
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

/** Most that a write waits for another program's lock. */
const LOCKED_LIMIT_MS = 5000;
const RETRY = { firstMs: 5, mostMs: 100, jitter: 0.5, random: Math.random };

/** A write queue over one connection, which must be used for writing by nobody else. */
export function writeQueue(db: Database): WriteQueue {
  const commits = groupCommit(db, asStorageError);
  let pending: Pending[] = [];
  let lockedAttempts = 0;

  function flush(): void {
    try {
      commits.begin();
    } catch (error) {
      if (sqliteFailure(error) === 'locked') waitForLock(error);
      else for (const { reject } of take()) reject(asStorageError(error));
      return;
    }
    lockedAttempts = 0;
    for (const { work, resolve, reject } of take()) {
      commits.answer(() => commits.transact(work) as never).then(resolve, reject);
    }
    try {
      commits.commit();
    } catch {
      // Each write is told by its own promise.
    }
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

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        pending.push({ work, resolve, reject, waitedMs: 0 });
        if (pending.length === 1) setImmediate(flush);
      }),
  };
}
