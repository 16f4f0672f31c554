import type { SQL } from 'bun';
import { isFinal, type Payment } from '../../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';
import { cacheConditions } from '../cache-conditions.ts';
import { type CachedColumns, columnsOfCached } from '../columns/cached.ts';
import { mayGiveWay } from '../giving-way.ts';
import type { CacheQuery, PaymentCache } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { Database } from './database.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import { together } from './together.ts';

type Row = CachedColumns & { readonly mac: string };

interface Counts {
  readonly numNew: number;
  readonly numUpdated: number;
}

/** Writes rows of different payments. Returns how many are new, and how many have changed. */
async function write(tx: SQL, rows: readonly Row[]): Promise<Counts> {
  const column = (of: (row: Row) => string) => tx.array(rows.map(of), 'text');
  const wallets = column(({ wallet }) => wallet);
  const indexes = column(({ idx }) => idx);
  const states = column(({ status }) => status);
  const jsons = column(({ json }) => json);
  const macs = column(({ mac }) => mac);
  const [added, changed] = await together([
    tx`INSERT INTO wallet_sidecar.cache (wallet, idx, status, direction, rail, json, mac)
      SELECT * FROM unnest(${wallets}::text[], ${indexes}::text[], ${states}::text[],
        ${column(({ direction }) => direction)}::text[], ${column(({ rail }) => rail)}::text[], ${jsons}::text[],
        ${macs}::text[])
      ON CONFLICT DO NOTHING`,
    update(tx, rows),
  ]);
  return { numNew: added.count, numUpdated: changed };
}

/** Replaces rows that are there and say something else. Returns how many. */
async function update(tx: SQL, rows: readonly Row[]): Promise<number> {
  const column = (of: (row: Row) => string) => tx.array(rows.map(of), 'text');
  const { count } = await tx`
    UPDATE wallet_sidecar.cache SET status = given.status, json = given.json, mac = given.mac
    FROM unnest(${column(({ wallet }) => wallet)}::text[], ${column(({ idx }) => idx)}::text[],
      ${column(({ status }) => status)}::text[], ${column(({ json }) => json)}::text[],
      ${column(({ mac }) => mac)}::text[]) AS given (wallet, idx, status, json, mac)
    WHERE cache.wallet = given.wallet AND cache.idx = given.idx AND cache.json <> given.json`;
  return count;
}

/** Leaves out the payments that are gone since they were read from the journal. */
async function stillThere(
  tx: SQL,
  walletId: string,
  payments: readonly Payment[],
): Promise<readonly Payment[]> {
  const doubtful = payments.filter(mayGiveWay).map(({ index }) => index);
  if (doubtful.length === 0) return payments;
  const rows = await tx<{ idx: string }[]>`SELECT idx FROM wallet_sidecar.journal
    WHERE wallet = ${walletId} AND idx = ANY(${tx.array(doubtful, 'text')}::text[])`;
  const there = new Set(rows.map(({ idx }) => idx));
  return payments.filter((payment) => !mayGiveWay(payment) || there.has(payment.index));
}

/** Splits payments so that no part has one twice: a statement writes a row once. Later ones are in later parts. */
function withoutRepeats(payments: readonly Payment[]): Payment[][] {
  const seen = new Map<PaymentIndex, number>();
  const parts: Payment[][] = [];
  for (const payment of payments) {
    const at = seen.get(payment.index) ?? 0;
    seen.set(payment.index, at + 1);
    parts[at] ??= [];
    parts[at].push(payment);
  }
  return parts;
}

/** Returns the {@link PaymentCache} over PostgreSQL. */
export function postgresPaymentCache(db: Database, signed: SignedRows): PaymentCache {
  const rowOf = (walletId: string, payment: Payment): Row => {
    const columns = columnsOfCached(walletId, payment);
    return { ...columns, mac: signed.mac(SIGNED.cache, columns) };
  };
  return {
    async cursor(walletId) {
      const [row] = await db.read(
        (sql) => sql<{ updated_idx: UpdatedIndex }[]>`
          SELECT updated_idx FROM wallet_sidecar.cache_cursor WHERE wallet = ${walletId}`,
      );
      return row?.updated_idx ?? null;
    },
    apply: (walletId, payments, cursor, readFrom = 'node') =>
      db.write(walletId, async (tx) => {
        let [numNew, numUpdated] = [0, 0];
        const there = readFrom === 'node' ? payments : await stillThere(tx, walletId, payments);
        for (const part of withoutRepeats(there)) {
          const counts = await write(
            tx,
            part.map((payment) => rowOf(walletId, payment)),
          );
          numNew += counts.numNew;
          numUpdated += counts.numUpdated;
        }
        if (cursor !== null) {
          await tx`INSERT INTO wallet_sidecar.cache_cursor (wallet, updated_idx) VALUES (${walletId}, ${cursor})
            ON CONFLICT (wallet) DO UPDATE SET
              updated_idx = greatest(cache_cursor.updated_idx, excluded.updated_idx)`;
        }
        return { numNew, numUpdated };
      }),
    async get(walletId, index) {
      const [row] = await db.read(
        (sql) => sql<RawRow[]>`
          SELECT * FROM wallet_sidecar.cache WHERE wallet = ${walletId} AND idx = ${index}`,
      );
      const columns = row ? signed.read<CachedColumns>(SIGNED.cache, row) : null;
      return columns && { json: columns.json, final: isFinal(columns) };
    },
    async list(walletId, query) {
      const { text, values } = listQuery(walletId, query);
      const rows = await db.read((sql) =>
        sql.unsafe<(RawRow & { readonly idx: PaymentIndex })[]>(text, values),
      );
      const page = rows.slice(0, query.limit);
      const more = rows.length > query.limit;
      return {
        json: signed.readAll<CachedColumns>(SIGNED.cache, page).map(({ json }) => json),
        nextIndex: more ? (page.at(-1)?.idx ?? null) : null,
      };
    },
    refresh: (walletId, payment) =>
      db.write(walletId, async (tx) => {
        await update(tx, [rowOf(walletId, payment)]);
      }),
    clear: (walletId) =>
      db.write(walletId, async (tx) => {
        await tx`DELETE FROM wallet_sidecar.cache WHERE wallet = ${walletId}`;
        await tx`DELETE FROM wallet_sidecar.cache_cursor WHERE wallet = ${walletId}`;
      }),
  };
}

/** Reads one row more than was asked for, to know whether there is a next page. */
function listQuery(walletId: string, query: CacheQuery): { text: string; values: string[] } {
  const { where, values, order } = cacheConditions(walletId, query);
  let at = 0;
  return {
    text: `SELECT * FROM wallet_sidecar.cache WHERE ${where.replaceAll('?', () => `$${++at}`)} ORDER BY idx ${order} LIMIT ${query.limit + 1}`,
    values: [...values],
  };
}
