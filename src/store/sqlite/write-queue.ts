import type { Database } from 'bun:sqlite';
import { asStorageError, isStorageFailure } from '../../model/storage-failure.ts';

/**
 * Writes of the same turn of the event loop share one durable commit: each is a savepoint of its own, so one that
 * fails undoes nothing of the others. They run in the order they were asked for, and answer after the commit.
 */
export interface WriteQueue {
  write<T>(work: () => T): Promise<T>;
}

interface Pending {
  readonly work: () => unknown;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

type Settle = () => void;

/** A write queue over one connection, which must be used for writing by nobody else. */
export function writeQueue(db: Database): WriteQueue {
  let pending: Pending[] = [];
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT w');
  const release = db.prepare('RELEASE w');
  const rollbackTo = db.prepare('ROLLBACK TO w');

  function flush(): void {
    const batch = pending;
    pending = [];
    const settle: Settle[] = [];
    try {
      begin.run();
      for (const write of batch) settle.push(runOne(write, batch.length > 1));
      commit.run();
    } catch (error) {
      rollBack(db);
      for (const { reject } of batch) reject(asStorageError(error));
      return;
    }
    for (const done of settle) done();
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
      if (!shared && isStorageFailure(error)) throw error;
      return () => write.reject(asStorageError(error));
    }
  }

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        pending.push({ work, resolve, reject });
        if (pending.length === 1) setImmediate(flush);
      }),
  };
}

function rollBack(db: Database): void {
  if (db.inTransaction) db.run('ROLLBACK');
}
