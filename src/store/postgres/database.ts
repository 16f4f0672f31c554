import type { SQL } from 'bun';
import { backoffDelayMs } from '../../lib/backoff.ts';
import { elapsedMs } from '../../lib/clock.ts';
import { keyedLock } from '../../lib/keyed-lock.ts';
import { postgresFailure } from '../../lib/postgres-failure.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError } from '../../model/errors.ts';
import { asStorageError } from '../../model/storage-error.ts';
import type { Connections } from './connections.ts';
import type { Ownership } from './ownership.ts';
import { writeSlots } from './slots.ts';

/** Reads and transactions on PostgreSQL, for the ports. */
export interface Database {
  /** Runs statements that only read, each by itself. It may run them again when the connection is cut. */
  read<T>(work: (sql: SQL) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one transaction, which is durable when this resolves. Transactions with the same lock, a wallet's id
   * or {@link NAMES}, run one after another in the order of their calls; null takes no lock. A transaction that was cut
   * off is run again from the start, so `work` must change nothing but the database. Throws error 8 when the database
   * cannot be used; then nothing was written. The only exception is a process that ends before it knows
   * (docs/decisions.md 137).
   */
  write<T>(lock: string | null, work: (tx: SQL) => Promise<T>): Promise<T>;
  /** Lets the running transactions end, and takes no others. */
  close(): Promise<void>;
}

/** The lock for the names of wallets, which are unique over all wallets. */
export const NAMES = 'names';

/** How often work is run that another transaction or a cut connection ended, and until when it is run again. */
const MOST_ATTEMPTS = 4;
const REPEATED_FOR_MS = 1000;
const RETRY = { firstMs: 10, mostMs: 200, jitter: 0.5, random: Math.random };
/** Pauses between two attempts to read the outcome of a commit. */
const READ_BACK = { firstMs: 50, mostMs: 1000, jitter: 0.5, random: Math.random };

/** Returns the transactions of the process that owns the database. */
export function ownedDatabase(
  connections: Connections,
  ownership: Ownership,
  mostWrites: number,
): Database {
  const locks = keyedLock();
  const slots = writeSlots(mostWrites);
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();
  let writes = 0;

  async function run<T>(lock: string | null, work: (tx: SQL) => Promise<T>): Promise<T> {
    return slots.use(async (slot) => {
      const result = await repeated(() => transaction(slot, lock, work), ending.signal);
      // What follows, such as a request to a node, must not come after another process took over.
      await ownership.confirm();
      return result;
    });
  }

  async function transaction<T>(
    slot: number,
    lock: string | null,
    work: (tx: SQL) => Promise<T>,
  ): Promise<T> {
    writes += 1;
    const mark = `${ownership.fence}:${writes}`;
    const tx = await connections.sql.reserve();
    try {
      const result = await begun(tx, { slot, mark, lock }, work);
      await commit(tx, { slot, mark });
      return result;
    } finally {
      tx.release();
    }
  }

  async function begun<T>(
    tx: SQL,
    { slot, mark, lock }: { slot: number; mark: string; lock: string | null },
    work: (tx: SQL) => Promise<T>,
  ): Promise<T> {
    try {
      const [, claimed, locked] = await Promise.all([
        tx`BEGIN`,
        // The row lock makes a process that takes over wait for this transaction.
        tx`WITH owner AS (SELECT 1 FROM ownership WHERE fence = ${ownership.fence} FOR SHARE)
          UPDATE commit_mark SET mark = ${mark} WHERE slot = ${slot} AND EXISTS (SELECT 1 FROM owner)`,
        lock === null ? [] : tx`SELECT 1 FROM write_lock WHERE name = ${lock} FOR UPDATE`,
      ]);
      if (claimed.count === 0) throw ownership.lost();
      if (lock !== null && locked.length === 0) {
        // Of two first transactions, the second waits here for the first.
        await tx`INSERT INTO write_lock (name) VALUES (${lock}) ON CONFLICT DO NOTHING`;
        await tx`SELECT 1 FROM write_lock WHERE name = ${lock} FOR UPDATE`;
      }
      return await work(tx);
    } catch (error) {
      await tx`ROLLBACK`.catch(() => undefined);
      throw error;
    }
  }

  /** Commits. Where the answer does not come, it finds out whether the transaction was committed. */
  async function commit(tx: SQL, written: { slot: number; mark: string }): Promise<void> {
    let failure: unknown;
    try {
      const { command } = await tx`COMMIT`;
      if (command === 'COMMIT') return;
      failure = new Error('The database has undone a transaction in which a statement had failed.');
    } catch (error) {
      failure = error;
    }
    if (!(await wasCommitted(written))) throw failure;
  }

  async function wasCommitted({ slot, mark }: { slot: number; mark: string }): Promise<boolean> {
    for (let attempt = 1; !ending.signal.aborted; attempt++) {
      try {
        // It waits for the session of that transaction, which has locked this row until it ends.
        const [row] = await connections.sql<{ mark: string }[]>`
          SELECT mark FROM commit_mark WHERE slot = ${slot} FOR UPDATE`;
        if (row?.mark === mark) return true;
        const isOurs = row?.mark === '' || row?.mark.startsWith(`${ownership.fence}:`);
        if (!isOurs) throw ownership.lost();
        return false;
      } catch (error) {
        if (error instanceof ApiError) throw error;
        await sleep(backoffDelayMs(attempt, READ_BACK), ending.signal);
      }
    }
    throw new ApiError('overCapacity', 'The sidecar is stopping: try again in a moment.');
  }

  return {
    read: (work) => repeated(() => work(connections.sql), ending.signal),
    write(lock, work) {
      const start = () => run(lock, work);
      const writing = lock === null ? start() : locks.run(lock, start);
      const settled = writing.catch(() => undefined).finally(() => running.delete(settled));
      running.add(settled);
      return writing;
    },
    async close() {
      ending.abort();
      await Promise.all(running);
    },
  };
}

/** Runs work again that a cut connection or another transaction ended, and throws error 8 when that does not help. */
async function repeated<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const startedAtMs = elapsedMs();
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const failure = postgresFailure(error);
      const mayRepeat = failure === 'away' || failure === 'conflict';
      // An attempt to connect may take seconds by itself.
      const isOver = attempt === MOST_ATTEMPTS || elapsedMs() - startedAtMs >= REPEATED_FOR_MS;
      if (!mayRepeat || isOver || signal.aborted) throw asStorageError(error);
      await sleep(backoffDelayMs(attempt, RETRY), signal);
    }
  }
}
