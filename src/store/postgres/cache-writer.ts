import { mayGiveWay } from '../giving-way.ts';
import type { CacheCounts, CachedRow, CacheWriter } from '../rows/payment-cache.ts';
import type { Rows } from '../rows/rows.ts';
import { type Steps, together } from '../rows/steps.ts';
import { answerOf } from './rows.ts';

function* write(rows: readonly CachedRow[]): Steps<CacheCounts> {
  const columns = ['wallet', 'idx', 'status', 'direction', 'rail', 'json', 'mac', 'words'] as const;
  const values = columns.map((name) => rows.map((row) => row[name] ?? ''));
  const [added, numUpdated] = yield* together([
    answerOf(
      `INSERT INTO wallet_sidecar.cache (${columns.join(', ')})
       SELECT * FROM unnest(${columns.map((_, at) => `$${at + 1}::text[]`).join(', ')})
       ON CONFLICT DO NOTHING`,
      values,
    ),
    update(rows),
  ]);
  return { numNew: added.count, numUpdated };
}

/** Replaces rows that are there and say something else. Returns how many. */
function* update(rows: readonly CachedRow[]): Steps<number> {
  const columns = ['wallet', 'idx', 'status', 'json', 'mac', 'words'] as const;
  const { count } = yield* answerOf(
    `UPDATE wallet_sidecar.cache SET status = given.status, json = given.json, mac = given.mac, words = given.words
     FROM unnest(${columns.map((_, at) => `$${at + 1}::text[]`).join(', ')}) AS given (${columns.join(', ')})
     WHERE cache.wallet = given.wallet AND cache.idx = given.idx AND cache.json <> given.json`,
    columns.map((name) => rows.map((row) => row[name] ?? '')),
  );
  return count;
}

/** Splits rows so that no part has a payment twice: a statement writes a row once. Later ones are in later parts. */
function withoutRepeats(rows: readonly CachedRow[]): CachedRow[][] {
  const seen = new Map<string, number>();
  const parts: CachedRow[][] = [];
  for (const row of rows) {
    const at = seen.get(row.idx) ?? 0;
    seen.set(row.idx, at + 1);
    parts[at] ??= [];
    parts[at].push(row);
  }
  return parts;
}

/** Returns how rows of the cache are written: all by one statement, since each takes a way to the server. */
export function postgresCacheWriter({ prepare }: Rows): CacheWriter {
  const journaled = prepare<{ idx: string }>(
    `SELECT idx FROM wallet_sidecar.journal
     WHERE wallet = ? AND idx = ANY(ARRAY(SELECT jsonb_array_elements_text(CAST(? AS TEXT)::jsonb)))`,
  );
  return {
    *put(rows) {
      let [numNew, numUpdated] = [0, 0];
      for (const part of withoutRepeats(rows)) {
        const counts = yield* write(part);
        numNew += counts.numNew;
        numUpdated += counts.numUpdated;
      }
      return { numNew, numUpdated };
    },
    *stillThere(walletId, payments) {
      const doubtful = payments.filter(mayGiveWay).map(({ index }) => index);
      if (doubtful.length === 0) return payments;
      const found = yield* journaled.all(walletId, JSON.stringify(doubtful));
      const there = new Set(found.map(({ idx }) => idx));
      return payments.filter((payment) => !mayGiveWay(payment) || there.has(payment.index));
    },
    update: (row) => update([row]),
    written: async () => undefined,
  };
}
