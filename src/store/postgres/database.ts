import type { SQL } from 'bun';
import { backoffDelayMs } from '../../lib/backoff.ts';
import { elapsedMs } from '../../lib/clock.ts';
import { postgresFailure } from '../../lib/databases/postgres-failure.ts';
import { sleep } from '../../lib/sleep.ts';
import { stoppingError } from '../../model/errors.ts';
import { asStorageError } from '../../model/storage-error.ts';
import type { Advance } from '../ports.ts';
import type { Joint } from '../rows/rows.ts';
import type { Connections } from './connections.ts';
import { runJoined, type Work } from './joined-writes.ts';
import type { Ownership } from './ownership.ts';
import { withSettings } from './settings.ts';
import { mayBeWritten, ownedTransactions } from './transactions.ts';

/** Reads and transactions on PostgreSQL, for the ports. */
export interface Database {
  /** Runs statements that only read, each by itself. It may run them again when the connection is cut. */
  read<T>(work: (sql: SQL) => Promise<T>): Promise<T>;
  /** The same in a transaction, for what needs its settings. */
  readWithSettings<T>(work: (tx: SQL) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in a transaction, which is durable when this resolves. Writes with the same lock, a wallet's id or
   * `NAMES`, run one after another in the order of their calls; null takes no lock. Those of a lock that wait
   * share the next transaction, and one that fails undoes nothing of the others (docs/decisions.md 141). So `work` must
   * wait for the database alone, and for every statement that it sends. A transaction that was cut off is run again
   * from the start, so `work` must change nothing but the database. Throws error 8 when the database cannot be used;
   * then nothing was written. The only exception is a process that ends before it knows (docs/decisions.md 137).
   */
  write<T>(lock: string | null, work: (tx: SQL, joint: Joint) => Promise<T>): Promise<T>;
  /** Lets the writes that were taken end. Further ones are error 8. */
  close(): Promise<void>;
}

/** How often work is run that another transaction or a cut connection ended. */
const MOST_ATTEMPTS = 4;
/** Until when it is run again after a cut. The server takes a second to find a deadlock. */
const REPEATED_FOR_MS = 1000;
const RETRY = { firstMs: 10, mostMs: 200, jitter: 0.5, random: Math.random };
/**
 * The most writes that share a transaction. None is answered before all have run, and beyond 64 that wrote, PostgreSQL
 * looks up their savepoints on disk.
 */
const MOST_JOINED = 32;

interface Pending {
  readonly work: Work;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

interface DatabaseOptions {
  readonly mostWrites: number;
  /** Called for each advance of the store's counter that a transaction of writes has committed. */
  readonly onAdvance: (made: Advance) => void;
}

/** Returns the transactions of the process that owns the database. */
export function ownedDatabase(
  connections: Connections,
  ownership: Ownership,
  { mostWrites, onAdvance }: DatabaseOptions,
): Database {
  /** What waits for a lock, as long as anything has or wants it. */
  const queues = new Map<string, Pending[]>();
  const slots = writeSlots(mostWrites);
  const ending = new AbortController();
  const transactions = ownedTransactions(connections, ownership, ending.signal);
  const running = new Set<Promise<unknown>>();

  /** Runs the first writes of a queue in one transaction, and resolves or rejects each. */
  async function commitNext(slot: number, lock: string | null, queue: Pending[]): Promise<void> {
    let batch: Pending[] = [];
    const taken = () => {
      if (batch.length === 0) batch = queue.splice(0, MOST_JOINED);
      return batch;
    };
    const works = () => taken().map(({ work }) => work);
    try {
      // Writes that come while the transaction begins join it. When it is run again, it is with the same writes.
      const run = () => transactions.run({ slot, lock }, (tx) => runJoined(tx, works()));
      const { outcomes, advance } = await repeated(run, ending.signal);
      if (advance !== null) onAdvance(advance);
      // What follows, such as a request to a node, must not come after another process took over.
      await ownership.confirm().catch(mayBeWritten);
      for (const [at, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[at];
        if (outcome?.status === 'fulfilled') resolve(outcome.value as never);
        else reject(asStorageError(outcome?.reason));
      }
    } catch (error) {
      for (const { reject } of taken()) reject(error);
    }
  }

  async function commitAll(lock: string | null, queue: Pending[]): Promise<void> {
    // Between two transactions of a lock, those of others get their turn.
    while (queue.length > 0) await slots.use((slot) => commitNext(slot, lock, queue));
    if (lock !== null) queues.delete(lock);
  }

  function enqueue(lock: string | null, pending: Pending): void {
    if (ending.signal.aborted) return void pending.reject(stoppingError());
    const queue = lock === null ? undefined : queues.get(lock);
    if (queue) return void queue.push(pending);
    const started = [pending];
    if (lock !== null) queues.set(lock, started);
    const settled = commitAll(lock, started).finally(() => running.delete(settled));
    running.add(settled);
  }

  return {
    read: (work) => repeated(() => work(connections.sql), ending.signal),
    readWithSettings: (work) => repeated(() => withSettings(connections.sql, work), ending.signal),
    write: (lock, work) =>
      new Promise((resolve, reject) => enqueue(lock, { work, resolve, reject })),
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
      // An attempt to connect may take seconds by itself.
      const isInTime = elapsedMs() - startedAtMs < REPEATED_FOR_MS;
      const mayRepeat = failure === 'conflict' || (failure === 'away' && isInTime);
      if (!mayRepeat || attempt === MOST_ATTEMPTS || signal.aborted) throw asStorageError(error);
      await sleep(backoffDelayMs(attempt, RETRY), signal);
    }
  }
}

/** Bounds the transactions at once. Each has a number meanwhile: the row in which it marks its commit. */
interface Slots {
  /** Runs `task` with a free number, as soon as there is one. Tasks begin in the order of their calls. */
  use<T>(task: (slot: number) => Promise<T>): Promise<T>;
}

function writeSlots(count: number): Slots {
  const free = Array.from({ length: count }, (_, slot) => slot);
  const waiting: ((slot: number) => void)[] = [];
  return {
    async use(task) {
      const slot =
        free.pop() ?? (await new Promise<number>((resolve) => void waiting.push(resolve)));
      try {
        return await task(slot);
      } finally {
        const next = waiting.shift();
        if (next) next(slot);
        else free.push(slot);
      }
    },
  };
}
