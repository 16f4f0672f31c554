import { mayGiveWay } from '../giving-way.ts';
import type { CacheCounts, CachedRow, CacheWriter } from '../rows/payment-cache.ts';
import type { Rows } from '../rows/rows.ts';
import { type Steps, together } from '../rows/steps.ts';
import { bundleWriter } from '../words/bundle-writer.ts';
import { answerOf } from './rows.ts';

/** What a write did. */
interface Written extends CacheCounts {
  /** The rows that are new or say something else than before. */
  readonly changed: readonly CachedRow[];
}

function* write(rows: readonly CachedRow[]): Steps<Written> {
  const columns = ['wallet', 'idx', 'status', 'direction', 'rail', 'json', 'mac', 'words'] as const;
  const values = columns.map((name) => rows.map((row) => row[name] ?? ''));
  const [added, updated] = yield* together([
    answerOf<{ idx: string }>(
      `INSERT INTO wallet_sidecar.cache (${columns.join(', ')})
       SELECT * FROM unnest(${columns.map((_, at) => `$${at + 1}::text[]`).join(', ')})
       ON CONFLICT DO NOTHING RETURNING idx`,
      values,
    ),
    update(rows),
  ]);
  const changed = new Set([...added, ...updated].map(({ idx }) => idx));
  return {
    numNew: added.length,
    numUpdated: updated.length,
    changed: rows.filter(({ idx }) => changed.has(idx)),
  };
}

/** Replaces rows that are there and say something else. Returns which. */
function* update(rows: readonly CachedRow[]): Steps<{ idx: string }[]> {
  const columns = ['wallet', 'idx', 'status', 'json', 'mac', 'words'] as const;
  return yield* answerOf<{ idx: string }>(
    `UPDATE wallet_sidecar.cache SET status = given.status, json = given.json, mac = given.mac, words = given.words
     FROM unnest(${columns.map((_, at) => `$${at + 1}::text[]`).join(', ')}) AS given (${columns.join(', ')})
     WHERE cache.wallet = given.wallet AND cache.idx = given.idx AND cache.json <> given.json
     RETURNING given.idx`,
    columns.map((name) => rows.map((row) => row[name] ?? '')),
  );
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
export function postgresCacheWriter(rows: Rows): CacheWriter {
  const { keep, clear } = bundleWriter(rows);
  const journaled = rows.prepare<{ idx: string }>(
    `SELECT idx FROM wallet_sidecar.journal
     WHERE wallet = ? AND idx = ANY(ARRAY(SELECT jsonb_array_elements_text(CAST(? AS TEXT)::jsonb)))`,
  );
  return {
    *put(given) {
      let [numNew, numUpdated] = [0, 0];
      const changed: CachedRow[] = [];
      for (const part of withoutRepeats(given)) {
        const written = yield* write(part);
        numNew += written.numNew;
        numUpdated += written.numUpdated;
        changed.push(...written.changed);
      }
      yield* keep(changed);
      return { numNew, numUpdated };
    },
    *stillThere(walletId, payments) {
      const doubtful = payments.filter(mayGiveWay).map(({ index }) => index);
      if (doubtful.length === 0) return payments;
      const found = yield* journaled.all(walletId, JSON.stringify(doubtful));
      const there = new Set(found.map(({ idx }) => idx));
      return payments.filter((payment) => !mayGiveWay(payment) || there.has(payment.index));
    },
    *update(row) {
      const updated = yield* update([row]);
      if (updated.length > 0) yield* keep([row]);
      return updated.length;
    },
    clearFinding: clear,
    written: async () => undefined,
  };
}
