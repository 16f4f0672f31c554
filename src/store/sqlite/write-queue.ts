import type { Database } from 'bun:sqlite';
import { backoffDelayMs } from '../../lib/backoff.ts';
import { groupCommit } from '../../lib/databases/group-commit.ts';
import { sqliteFailure } from '../../lib/databases/sqlite-failure.ts';
import { turn } from '../../lib/turn.ts';
import { asStorageError } from '../../model/storage-error.ts';

/**
 * Runs writes of one turn of the event loop in one durable commit (docs/decisions.md 85). They run in the order in
 * which they were queued, and their promises resolve after the commit. A write that fails undoes nothing of the others.
 * While another program holds the database locked, writes wait without blocking the event loop, and are rejected with
 * `overCapacity` (error 8) after {@link LOCKED_LIMIT_MS}.
 */
export interface WriteQueue {
  write<T>(work: () => T): Promise<T>;
  /** Moves the log of commits into the file, in a turn of its own. When that fails, the log stays as it is. */
  moveLog(): Promise<void>;
}

interface Pending {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
  /** How long the write has waited for another program's lock. */
  waitedMs: number;
}

/** The longest that a write waits for another program's lock. */
const LOCKED_LIMIT_MS = 5000;
const RETRY = { firstMs: 5, mostMs: 100, jitter: 0.5, random: Math.random };

/** Creates a write queue over one connection. All writes of that connection must go through the queue. */
export function writeQueue(db: Database): WriteQueue {
  const commits = groupCommit(db, asStorageError);
  let pending: Pending[] = [];
  let lockedAttempts = 0;

  function flush(): void {
    while (pending.length > 0) {
      try {
        // The lock may be gone again after a write that failed.
        commits.begin();
      } catch (error) {
        if (sqliteFailure(error) === 'locked') waitForLock(error);
        else for (const { reject } of take()) reject(asStorageError(error));
        return;
      }
      lockedAttempts = 0;
      const { work, resolve, reject } = pending.shift() as Pending;
      commits.durably(() => commits.transact(work) as never).then(resolve, reject);
    }
    try {
      commits.commit();
    } catch {
      // The promise of each write is rejected with the error.
    }
  }

  function take(): Pending[] {
    const batch = pending;
    pending = [];
    return batch;
  }

  /** Called when no write of the batch has run, or is kept. The rest keeps its order, and later writes join it. */
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
    async moveLog() {
      await turn();
      try {
        db.run('PRAGMA wal_checkpoint(PASSIVE)');
      } catch {
        // What was committed is in the log, from which a later commit moves it.
      }
      await turn();
    },
  };
}
