import type { SQL } from 'bun';
import { postgresFailure } from '../../lib/postgres-failure.ts';
import { sending } from './together.ts';

/** What a write does in its transaction. */
export type Work = (tx: SQL) => Promise<unknown>;

/**
 * Runs writes one after another in a transaction, and returns what became of each. One that fails undoes nothing of the
 * others. Throws an error after which the whole transaction must be undone: that of a write that is alone, of a cut
 * connection, and of a lock that another transaction has.
 */
export async function runJoined(
  tx: SQL,
  works: readonly Work[],
): Promise<PromiseSettledResult<unknown>[]> {
  const [only, ...others] = works;
  if (only !== undefined && others.length === 0) {
    return [{ status: 'fulfilled', value: await only(tx) }];
  }
  const outcomes: PromiseSettledResult<unknown>[] = [];
  // Savepoints are sent with the statements around them, and their answers are looked at in the end.
  const { send, answered } = sending();
  for (const work of works) {
    send(tx`SAVEPOINT write`);
    try {
      outcomes.push({ status: 'fulfilled', value: await work(tx) });
    } catch (reason) {
      const failure = postgresFailure(reason);
      if (failure === 'away' || failure === 'conflict') throw reason;
      send(tx`ROLLBACK TO write`);
      outcomes.push({ status: 'rejected', reason });
    }
    send(tx`RELEASE write`);
  }
  // A write that hid the error of a statement has undone itself, and what was told of it would be wrong.
  await answered();
  return outcomes;
}
