import type { SQL } from 'bun';
import { numberOf } from './values.ts';

/** What is said of a database whose row of `meta` is gone. */
export const IDENTITY_GONE = 'The database has lost the row that identifies it.';

/** Adds one to the counter, or to `atLeast` where that is greater, and returns the new count. */
export async function advanceCounter(tx: SQL, atLeast = 0): Promise<number> {
  const [row] = await tx<{ count: bigint }[]>`
    UPDATE meta SET count = greatest(count, ${atLeast}::bigint) + 1 RETURNING count`;
  if (!row) throw new Error(IDENTITY_GONE);
  return numberOf(row.count);
}
