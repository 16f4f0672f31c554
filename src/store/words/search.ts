import { turn } from '../../lib/turn.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { Query, RawRow, RowDatabase, Rows } from '../rows/rows.ts';
import type { Steps } from '../rows/steps.ts';
import { bundledWords, type FoundWords, type WantedWords } from './bundles.ts';

/**
 * Returns what finds rows of the cache by words, at most as many as the query's limit (docs/decisions.md 193). What is
 * asked of the store is asked in steps, between which other requests are served. `select` makes the statement that
 * reads rows.
 */
export function wordSearch(
  db: RowDatabase,
  rows: Rows,
  select: (rest: string) => Query<RawRow>,
): (wanted: WantedWords) => Promise<RawRow[]> {
  const find = bundledWords(rows);

  /** Reads these rows, by a statement for as many as a power of two. */
  async function read(walletId: string, indexes: readonly PaymentIndex[]): Promise<RawRow[]> {
    const last = indexes.at(-1);
    if (last === undefined) return [];
    const places = 2 ** Math.ceil(Math.log2(indexes.length));
    const rows = select(`WHERE wallet = ? AND idx IN (${Array(places).fill('?').join(', ')})`);
    const values = Array.from({ length: places }, (_, at) => indexes[at] ?? last);
    const byIndex = new Map<unknown, RawRow>();
    for (const row of await db.read(() => rows.all(walletId, ...values))) {
      byIndex.set(row.idx, row);
    }
    return indexes.map((index) => byIndex.get(index)).filter((row) => row !== undefined);
  }

  return async (wanted) => {
    const { limit } = wanted.query;
    const found: PaymentIndex[] = [];
    for (
      let step: (() => Steps<FoundWords>) | null = () => find(wanted);
      step && found.length < limit;
    ) {
      const some: FoundWords = await db.readWithSettings(step);
      found.push(...some.found);
      step = some.next;
      await turn();
    }
    return read(wanted.walletId, found.slice(0, limit));
  };
}
