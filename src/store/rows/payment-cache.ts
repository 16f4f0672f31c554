import { formatAmountMsat } from '../../model/amount.ts';
import { isOlderJson, storedPayment } from '../../model/description.ts';
import { isFinal, isReceived, type Payment } from '../../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';
import { searchWordsOf } from '../../model/payment-search.ts';
import { cacheConditions } from '../cache-conditions.ts';
import { type CachedColumns, columnsOfCached, wholeJsonOf } from '../columns/cached.ts';
import type { PaymentCache } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import { wordSearch } from '../words/search.ts';
import type { RefundRows } from './payments/refunds.ts';
import type { RawRow, RowDatabase, Rows } from './rows.ts';
import type { Steps } from './steps.ts';
import { type Selected, type Stored, tableOf } from './table.ts';

/** A cached payment as it is stored, with the words by which it is found. */
export type CachedRow = Stored<CachedColumns> & { readonly words: string };

/** How many rows are new, and how many have changed. */
export interface CacheCounts {
  readonly numNew: number;
  readonly numUpdated: number;
}

/** How an engine writes many rows of the cache at once. */
export interface CacheWriter {
  put(rows: readonly CachedRow[]): Steps<CacheCounts>;
  /** Returns the payments that are not gone since they were read from the journal. */
  stillThere(walletId: string, payments: readonly Payment[]): Steps<readonly Payment[]>;
  /** Replaces a row that is there and says something else. Returns how many these were. */
  update(row: CachedRow): Steps<number>;
  /** Deletes what is kept beside the rows of a wallet, by which they are found. */
  clearFinding(walletId: string): Steps<unknown>;
  /** Called with how many payments were committed. */
  written(payments: number): Promise<void>;
}

/** Returns the {@link PaymentCache}. */
export function paymentCache(
  db: RowDatabase,
  rows: Rows,
  writer: CacheWriter,
  refunds: RefundRows,
): PaymentCache {
  const table = tableOf<CachedColumns>(rows, SIGNED.cache);
  const readCursor = rows.prepare<{ updated_idx: UpdatedIndex }>(
    'SELECT updated_idx FROM wallet_sidecar.cache_cursor WHERE wallet = ?',
  );
  const moveCursor = rows.prepare(
    `INSERT INTO wallet_sidecar.cache_cursor (wallet, updated_idx) VALUES (?, ?)
     ON CONFLICT (wallet) DO UPDATE SET updated_idx = excluded.updated_idx
     WHERE excluded.updated_idx > cache_cursor.updated_idx`,
  );
  const readRow = table.select('WHERE wallet = ? AND idx = ?');
  const completions = table.select(
    `${rows.indexedBy('cache_by_completion')}
     WHERE wallet = ? AND completed_at IS NOT NULL AND (completed_at, idx) > (?, ?)
     ORDER BY completed_at, idx LIMIT ?`,
    { others: ['completed_at'] },
  );
  const clearRows = rows.prepare('DELETE FROM wallet_sidecar.cache WHERE wallet = ?');
  const clearCursor = rows.prepare('DELETE FROM wallet_sidecar.cache_cursor WHERE wallet = ?');
  // There are as many as combinations of filters: a search, of which there are more, is not kept.
  const lists = new Map<string, Selected<Stored<CachedColumns>>>();
  const listed = (rest: string) => {
    const found = lists.get(rest) ?? table.select(rest, { isPrepared: false });
    lists.set(rest, found);
    return found;
  };
  const search = wordSearch(db, rows, (rest) => table.select(rest, { isPrepared: false }).raw);
  const signed = (walletId: string, payment: Payment): CachedRow => {
    const row = columnsOfCached(walletId, payment);
    return { ...row, mac: table.mac(row), words: searchWordsOf(payment) };
  };
  /** Stores these rows of an older version with every field, so that their invoices are not read for each list. */
  const renew = (walletId: string, rows: readonly CachedColumns[]) =>
    db.write(walletId, function* () {
      for (const { idx } of rows) {
        const row = yield* readRow.one(walletId, idx);
        if (row && isOlderJson(row.json)) {
          yield* writer.update(signed(walletId, storedPayment(row.json)));
        }
      }
    });
  /** The JSON of these rows, with what is refunded of each. */
  function* shown(walletId: string, page: readonly Stored<CachedColumns>[]): Steps<string[]> {
    const received = page.filter(isReceived).map(({ idx }) => idx);
    const refunded = yield* refunds.of(walletId, received);
    return page.map((row) => {
      const sumMsat = refunded.get(row.idx);
      const json = wholeJsonOf(row);
      if (sumMsat === undefined) return json;
      return JSON.stringify({ ...JSON.parse(json), refunded: formatAmountMsat(sumMsat) });
    });
  }
  const pageOf = async (
    walletId: string,
    read: (raw: RawRow) => Stored<CachedColumns> | null,
    raws: readonly RawRow[],
  ) => {
    const page = raws.flatMap((raw) => read(raw) ?? []);
    const older = page.filter(({ json }) => isOlderJson(json));
    // Where they cannot be stored now, the next list completes them again.
    if (older.length > 0) await renew(walletId, older).catch(() => undefined);
    return db.read(() => shown(walletId, page));
  };
  return {
    cursor: async (walletId) =>
      (await db.read(() => readCursor.one(walletId)))?.updated_idx ?? null,
    async apply(walletId, payments, cursor, readFrom = 'node') {
      const counts = await db.write(walletId, function* () {
        const there = readFrom === 'node' ? payments : yield* writer.stillThere(walletId, payments);
        const put = yield* writer.put(there.map((payment) => signed(walletId, payment)));
        if (cursor !== null) yield* moveCursor.run(walletId, cursor);
        return put;
      });
      await writer.written(payments.length);
      return counts;
    },
    get: (walletId, index) =>
      db.read(function* () {
        const row = yield* readRow.one(walletId, index);
        const [json] = row ? yield* shown(walletId, [row]) : [];
        return row && json !== undefined ? { json, final: isFinal(row) } : null;
      }),
    async list(walletId, query) {
      const conditions = cacheConditions(walletId, query);
      const { where, values, order, sought } = conditions;
      // One row more than was asked for says whether there is a next page.
      const most = query.limit + 1;
      const list = () =>
        listed(`WHERE ${where} ORDER BY idx ${order} LIMIT ?`).raw.all(...values, most);
      const raws =
        sought.length === 0 && query.idPart === undefined && query.maker === undefined
          ? await db.read(list)
          : await search({ walletId, query: { ...query, limit: most }, conditions });
      const page = raws.slice(0, query.limit);
      const last = raws.length > query.limit ? page.at(-1) : undefined;
      return {
        json: await pageOf(walletId, table.read, page),
        nextIndex: (last?.idx as PaymentIndex | undefined) ?? null,
      };
    },
    async completed(walletId, after, limit) {
      const { atMs, index } = after ?? { atMs: -1, index: '' };
      const raws = await db.read(() => completions.raw.all(walletId, atMs, index, limit));
      const last = raws.at(-1);
      return {
        json: await pageOf(walletId, completions.read, raws),
        last: last ? { atMs: Number(last.completed_at), index: last.idx as PaymentIndex } : null,
      };
    },
    refresh: (walletId, payment) =>
      db.write(walletId, function* () {
        yield* writer.update(signed(walletId, payment));
      }),
    clear: (walletId) =>
      db.write(walletId, function* () {
        yield* clearRows.run(walletId);
        yield* clearCursor.run(walletId);
        yield* writer.clearFinding(walletId);
      }),
  };
}
