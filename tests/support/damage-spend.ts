import type { SpendColumns } from '../../src/store/columns/spend.ts';
import type { Rows } from '../../src/store/rows/rows.ts';
import type { Steps } from '../../src/store/rows/steps.ts';
import { tableOf } from '../../src/store/rows/table.ts';
import { SIGNED } from '../../src/store/signed-tables.ts';

/** Writes another text in the place of a spend's payment, with the MAC that fits it. */
export function* damageSpend(rows: Rows, index: string, json: string): Steps<void> {
  const table = tableOf<SpendColumns>(rows, SIGNED.spend);
  const update = table.update(['json']);
  for (const row of yield* table.select('WHERE idx = ?').all(index)) {
    yield* update({ ...row, json });
  }
}
