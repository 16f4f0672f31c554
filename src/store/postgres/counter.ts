import type { SQL } from 'bun';
import type { Advance } from '../ports.ts';
import { newWord } from '../word.ts';
import { numberOf } from './values.ts';

/** What is said of a database whose row of `meta` is gone. */
export const IDENTITY_GONE = 'The database has lost the row that identifies it.';

/** Adds one to the counter, or to `atLeast` where that is greater, and keeps the word of this advance. */
export async function advanceCounter(tx: SQL, atLeast = 0): Promise<Advance> {
  const word = newWord();
  const [row] = await tx<{ count: bigint }[]>`
    WITH moved AS (
      UPDATE wallet_sidecar.meta SET count = greatest(count, ${atLeast}::bigint) + 1 RETURNING count)
    INSERT INTO wallet_sidecar.advance (count, word) SELECT count, ${word} FROM moved RETURNING count`;
  if (!row) throw new Error(IDENTITY_GONE);
  return { count: numberOf(row.count), word };
}
