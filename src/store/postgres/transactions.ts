import type { SQL } from 'bun';
import { backoffDelayMs } from '../../lib/backoff.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, isApiError, stoppingError } from '../../model/errors.ts';
import type { Connections } from './connections.ts';
import type { Ownership } from './ownership.ts';
import { beginWithSettings, quoted } from './settings.ts';

/** Where a transaction marks its commit, and which lock it holds; null where it needs none. */
export interface Place {
  readonly slot: number;
  readonly lock: string | null;
}

/** Transactions of the process that owns the database. */
export interface Transactions {
  /**
   * Runs `work` in a transaction and commits it. Throws the error of `work`, or of the connection; then nothing was
   * written. Where the answer to the commit does not come, it finds out what became of it (docs/decisions.md 137).
   */
  run<T>(place: Place, work: (tx: SQL) => Promise<T>): Promise<T>;
}

/** Pauses between two attempts to read the outcome of a commit. */
const READ_BACK = { firstMs: 50, mostMs: 1000, jitter: 0.5, random: Math.random };

/** Returns the transactions, each of which checks that this process still owns the database. */
export function ownedTransactions(
  connections: Connections,
  ownership: Ownership,
  ending: AbortSignal,
): Transactions {
  let writes = 0;

  async function begin(tx: SQL, { slot, lock }: Place, mark: string): Promise<void> {
    const isLocking = lock !== null;
    const [claimed, locked] = await beginWithSettings(tx, [
      // The row lock makes a process that takes over wait for this transaction.
      `WITH owner AS (SELECT 1 FROM wallet_sidecar.ownership WHERE fence = ${ownership.fence} FOR SHARE)
        UPDATE wallet_sidecar.commit_mark SET mark = ${quoted(mark)} WHERE slot = ${slot} AND EXISTS (SELECT 1 FROM owner)`,
      ...(isLocking ? [lockOf(lock)] : []),
    ]);
    if (claimed?.count !== 1) throw ownership.lost();
    if (isLocking && locked?.count === 0) {
      // Of two first transactions, the second waits here for the first.
      await tx`INSERT INTO wallet_sidecar.write_lock (name) VALUES (${lock}) ON CONFLICT DO NOTHING`;
      await tx.unsafe(lockOf(lock));
    }
  }

  /** Commits. Where the answer does not come, it finds out whether the transaction was committed. */
  async function commit(tx: SQL, slot: number, mark: string): Promise<void> {
    let failure: unknown;
    try {
      const { command } = await tx`COMMIT`;
      if (command === 'COMMIT') return;
      failure = new Error('The database has undone a transaction in which a statement had failed.');
    } catch (error) {
      failure = error;
    }
    if (!(await wasCommitted(slot, mark).catch(mayBeWritten))) throw failure;
  }

  async function wasCommitted(slot: number, mark: string): Promise<boolean> {
    for (let attempt = 1; !ending.aborted; attempt++) {
      try {
        // It waits for the session of that transaction, which has locked this row until it ends.
        const [row] = await connections.sql<{ mark: string }[]>`
          SELECT mark FROM wallet_sidecar.commit_mark WHERE slot = ${slot} FOR UPDATE`;
        if (row?.mark === mark) return true;
        // Where this process has not committed in the slot yet, the mark is of one before.
        if (row === undefined || fenceOf(row.mark) > ownership.fence) throw ownership.lost();
        return false;
      } catch (error) {
        if (error instanceof ApiError) throw error;
        await sleep(backoffDelayMs(attempt, READ_BACK), ending);
      }
    }
    throw stoppingError();
  }

  return {
    async run(place, work) {
      writes += 1;
      const mark = `${ownership.fence}:${writes}`;
      const tx = await connections.sql.reserve();
      try {
        const result = await begin(tx, place, mark)
          .then(() => work(tx))
          .catch(async (error) => {
            await tx`ROLLBACK`.catch(() => undefined);
            throw error;
          });
        await commit(tx, place.slot, mark);
        return result;
      } finally {
        tx.release();
      }
    },
  };
}

/** Throws the error as one after which the transaction may stand, so that another process goes on with it. */
export function mayBeWritten(error: unknown): never {
  if (!isApiError(error)) throw error;
  const { kind, message, data, httpStatus } = error;
  throw new ApiError(kind, message, { data, httpStatus, outcomeUnknown: true });
}

/** Takes the lock of that name, if it was ever taken before. */
function lockOf(name: string): string {
  return `SELECT 1 FROM wallet_sidecar.write_lock WHERE name = ${quoted(name)} FOR UPDATE`;
}

/** Returns the fencing number of the process that made the mark; 0 where none has. */
function fenceOf(mark: string): bigint {
  const [fence = ''] = mark.split(':');
  return BigInt(fence);
}
