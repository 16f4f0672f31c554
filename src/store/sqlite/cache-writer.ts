import { mayGiveWay } from '../giving-way.ts';
import type { CachedRow, CacheWriter } from '../rows/payment-cache.ts';
import type { Rows } from '../rows/rows.ts';
import type { Steps } from '../rows/steps.ts';
import { SIGNED } from '../signed-tables.ts';
import { bundleWriter } from '../words/bundle-writer.ts';
import { AtOnce, perform } from './rows.ts';
import type { WriteQueue } from './write-queue.ts';

/** Payments, about 2 MB, after which the log is moved into the file: 16 MB hold requests up for long. */
const MOST_LOGGED = 900;

/** Rows of a statement. Within one, SQLite goes on where an index ended; a new one searches that place again. */
const ROWS = 25;

const NAMES: readonly (keyof CachedRow)[] = [
  ...SIGNED.cache.key,
  ...SIGNED.cache.columns,
  'mac',
  'words',
];

/** Returns how rows of the cache are written: many by one statement. */
export function sqliteCacheWriter(rows: Rows, queue: WriteQueue): CacheWriter {
  const { prepare } = rows;
  const insertOf = (count: number) => {
    const places = `(${NAMES.map(() => '?').join(', ')})`;
    return prepare(
      `INSERT INTO wallet_sidecar.cache (${NAMES.join(', ')}) VALUES ${Array(count).fill(places).join(', ')}
       ON CONFLICT DO NOTHING`,
    );
  };
  const [insertRow, insertRows] = [insertOf(1), insertOf(ROWS)];
  const updateRow = prepare(
    'UPDATE wallet_sidecar.cache SET status = ?1, json = ?2, mac = ?3, words = ?4 WHERE wallet = ?5 AND idx = ?6 AND json <> ?2',
  );
  const saysOther = prepare(
    `SELECT 1 FROM wallet_sidecar.cache
     WHERE wallet = ? AND idx = ? AND (words <> ? OR status <> ?) AND json <> ?`,
  );
  const { keep, clear } = bundleWriter(rows);
  const isJournaled = prepare('SELECT 1 FROM wallet_sidecar.journal WHERE wallet = ? AND idx = ?');
  let logged = 0;

  /** Replaces a row, and adds it to those that say something else than before. */
  function* replace(row: CachedRow, changed: CachedRow[]): Steps<number> {
    const { status, json, mac, words, wallet, idx } = row;
    if (yield* saysOther.one(wallet, idx, words, status, json)) changed.push(row);
    return yield* updateRow.run(status, json, mac, words, wallet, idx);
  }

  return {
    *put(given) {
      const left = [...given];
      const changed: CachedRow[] = [];
      let [numNew, numUpdated] = [0, 0];
      while (left.length > 0) {
        const isEnough = left.length >= ROWS;
        const some = left.splice(0, isEnough ? ROWS : 1);
        const values = some.flatMap((row) => NAMES.map((name) => row[name]));
        const changes = yield* (isEnough ? insertRows : insertRow).run(...values);
        numNew += changes;
        // Some may have been there already: a bundle may say too much.
        if (changes > 0) changed.push(...some);
        if (changes === some.length) continue;
        // A row that was just inserted does not differ from what is stored.
        for (const row of some) numUpdated += yield* replace(row, changed);
      }
      yield* keep(changed);
      return { numNew, numUpdated };
    },
    stillThere: (walletId, payments) =>
      new AtOnce(() =>
        payments.filter(
          (payment) =>
            !mayGiveWay(payment) || perform(isJournaled.one(walletId, payment.index)) !== null,
        ),
      ),
    *update(row) {
      const changed: CachedRow[] = [];
      const changes = yield* replace(row, changed);
      yield* keep(changed);
      return changes;
    },
    clearFinding: clear,
    async written(payments) {
      logged += payments;
      if (logged < MOST_LOGGED) return;
      logged = 0;
      await queue.moveLog();
    },
  };
}
