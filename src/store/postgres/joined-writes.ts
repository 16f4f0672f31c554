import type { SQL } from 'bun';
import { postgresFailure } from '../../lib/databases/postgres-failure.ts';
import type { Advance } from '../ports.ts';
import type { Joint } from '../rows/rows.ts';
import { advanceCounter } from './counter.ts';
import { sending } from './together.ts';

interface JoinedOutcome {
  readonly outcomes: readonly PromiseSettledResult<unknown>[];
  /** The advance of the store's counter; null where no write asked for one. */
  readonly advance: Advance | null;
}

/** What a write does in its transaction. */
export type Work = (tx: SQL, joint: Joint) => Promise<unknown>;

/**
 * Runs writes one after another in a transaction, and returns what became of each. One that fails undoes nothing of the
 * others. Throws an error after which the whole transaction must be undone: that of a write that is alone, of a cut
 * connection, and of a lock that another transaction has.
 */
export async function runJoined(tx: SQL, works: readonly Work[]): Promise<JoinedOutcome> {
  let advances = false;
  const run = async (work: Work): Promise<PromiseFulfilledResult<unknown>> => {
    let wants = false;
    const joint: Joint = {
      advanceCounter() {
        wants = true;
      },
    };
    const value = await work(tx, joint);
    advances ||= wants;
    return { status: 'fulfilled', value };
  };
  const outcomes = await (works.length === 1
    ? Promise.all(works.map(run))
    : runEach(tx, works, run));
  return { outcomes, advance: advances ? await advanceCounter(tx) : null };
}

async function runEach(
  tx: SQL,
  works: readonly Work[],
  run: (work: Work) => Promise<PromiseFulfilledResult<unknown>>,
): Promise<PromiseSettledResult<unknown>[]> {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  // Savepoints are sent with the statements around them, and their answers are looked at in the end.
  const { send, answered } = sending();
  for (const work of works) {
    send(tx`SAVEPOINT write`);
    try {
      outcomes.push(await run(work));
    } catch (reason) {
      const failure = postgresFailure(reason);
      if (failure === 'away' || failure === 'conflict') throw reason;
      send(tx`ROLLBACK TO write`);
      outcomes.push({ status: 'rejected', reason });
    }
  }
  // Where the last write hid the error of a statement, the commit says so by undoing the transaction, as the next
  // savepoint does for each other write: such a write has undone itself, and what was told of it would be wrong.
  await answered();
  return outcomes;
}
