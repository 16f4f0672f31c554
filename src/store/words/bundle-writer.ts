import { SealBroken } from '../../lib/secrets/seal.ts';
import { type Made, makerRows, makersOf, OFFER_JSON } from '../rows/callers/makers.ts';
import type { Rows } from '../rows/rows.ts';
import { type Steps, send, together } from '../rows/steps.ts';
import { type Bundled, bundleOf } from './bundle.ts';

/** Payments of a bundle that is made of single ones: as many as a page of a sync has. */
const BUNDLED = 200;
/** Payments that make a bundle when they are stored at once. */
const ENOUGH = 50;
/** Loose payments of a wallet between two looks at how many there are, which cost as much as one of them. */
const UNCOUNTED = 16;
/** Bundles have numbers that are never used again, so that a search sees when they were deleted. */
const NUMBERS = 2 ** 48;

interface Row extends Bundled, Made {
  readonly wallet: string;
}

/** Keeps the words of cached payments once more, in the transaction of their rows (docs/decisions.md 193). */
export interface BundleWriter {
  /** Keeps what these rows of one wallet say, which are new or say something else than before. */
  keep(rows: readonly Row[]): Steps<void>;
  /** Deletes what is kept of a wallet. */
  clear(walletId: string): Steps<unknown>;
}

/**
 * Returns the writer. Rows that are stored by the page make a bundle. Single ones are loose: what says which they are
 * is written, until there are enough of them for a bundle, which has what they say by then.
 */
export function bundleWriter(rows: Rows): BundleWriter {
  const { prepare, eachText, forms } = rows;
  const insert = prepare(
    `INSERT INTO wallet_sidecar.word_bundle
       (id, wallet, since, until, marks, sets, ${forms.nameOf('word_bundle', 'makers')}, ids, times, lines)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const made = makerRows(rows);
  const loosen = prepare(
    `INSERT INTO wallet_sidecar.word_loose (wallet, idx) SELECT ?, value FROM ${eachText} WHERE true
     ON CONFLICT DO NOTHING`,
  );
  const count = prepare<{ n: number }>(
    'SELECT count(*) AS n FROM wallet_sidecar.word_loose WHERE wallet = ?',
  );
  const loose = prepare<Row>(
    `SELECT wallet, idx, status, direction, rail, words, ${OFFER_JSON} FROM wallet_sidecar.cache
     WHERE wallet = ?1 AND idx IN (SELECT idx FROM wallet_sidecar.word_loose WHERE wallet = ?1)
     ORDER BY idx`,
  );
  const clearLoose = prepare('DELETE FROM wallet_sidecar.word_loose WHERE wallet = ?');
  const clearBundles = prepare('DELETE FROM wallet_sidecar.word_bundle WHERE wallet = ?');

  /** How many more are stored before they are counted, by wallet. The first after a start are counted. */
  const uncounted = new Map<string, number>();

  function* bundle(rows: readonly Row[]): Steps<void> {
    const [first] = rows;
    if (first === undefined) return;
    const { wallet } = first;
    const { since, until, marks, sets, makers, ids, times, lines } = bundleOf(
      rows,
      yield* makersIfRead(wallet, rows),
    );
    const id = Math.floor(Math.random() * NUMBERS);
    const [stored = null] = forms.write('word_bundle', ['makers'], { id, makers });
    yield* insert.run(id, wallet, since, until, marks, sets, stored, ids, times, lines);
  }

  /** Who made them; null where what says it was changed, which keeps no payment from being stored. */
  function* makersIfRead(wallet: string, rows: readonly Row[]) {
    try {
      return yield* makersOf(made, wallet, rows);
    } catch (error) {
      if (error instanceof SealBroken) return null;
      throw error;
    }
  }

  return {
    *keep(rows) {
      const [first] = rows;
      if (first === undefined) return;
      if (rows.length >= ENOUGH) {
        yield* bundle(rows);
        return;
      }
      const { wallet } = first;
      yield* send(loosen.run(wallet, JSON.stringify(rows.map(({ idx }) => idx))));
      const left = (uncounted.get(wallet) ?? 0) - rows.length;
      uncounted.set(wallet, left > 0 ? left : UNCOUNTED);
      if (left > 0 || ((yield* count.one(wallet))?.n ?? 0) < BUNDLED) return;
      yield* bundle(yield* loose.all(wallet));
      yield* clearLoose.run(wallet);
    },
    clear: (walletId) => together([clearLoose.run(walletId), clearBundles.run(walletId)]),
  };
}
