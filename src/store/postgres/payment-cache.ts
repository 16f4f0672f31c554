import type { SQL } from 'bun';
import { encodePayment, isFinal, type Payment } from '../../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';
import { cacheConditions } from '../cache-conditions.ts';
import { mayGiveWay } from '../giving-way.ts';
import type { CacheQuery, PaymentCache } from '../ports.ts';
import type { Database } from './database.ts';
import { together } from './together.ts';

interface Counts {
  readonly numNew: number;
  readonly numUpdated: number;
}

/** Writes rows of different payments. Returns how many are new, and how many have changed. */
async function write(tx: SQL, walletId: string, payments: readonly Payment[]): Promise<Counts> {
  const column = (of: (payment: Payment) => string) => tx.array(payments.map(of), 'text');
  const indexes = column(({ index }) => index);
  const states = column(({ status }) => status);
  const jsons = column((payment) => JSON.stringify(encodePayment(payment)));
  const [added, changed] = await together([
    tx`INSERT INTO wallet_sidecar.cache (wallet, idx, status, direction, rail, json)
      SELECT ${walletId}::text, * FROM unnest(${indexes}::text[], ${states}::text[],
        ${column(({ direction }) => direction)}::text[], ${column(({ rail }) => rail)}::text[], ${jsons}::text[])
      ON CONFLICT DO NOTHING`,
    tx`UPDATE wallet_sidecar.cache SET status = given.status, json = given.json
      FROM unnest(${indexes}::text[], ${states}::text[], ${jsons}::text[]) AS given (idx, status, json)
      WHERE cache.wallet = ${walletId} AND cache.idx = given.idx AND cache.json <> given.json`,
  ]);
  return { numNew: added.count, numUpdated: changed.count };
}

/** Leaves out the payments that have been gone since they were read from the journal. */
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
export function postgresPaymentCache(db: Database): PaymentCache {
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
          const counts = await write(tx, walletId, part);
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
        (sql) => sql<{ json: string; status: Payment['status'] }[]>`
          SELECT json, status FROM wallet_sidecar.cache WHERE wallet = ${walletId} AND idx = ${index}`,
      );
      return row ? { json: row.json, final: isFinal(row) } : null;
    },
    async list(walletId, query) {
      const { text, values } = listQuery(walletId, query);
      const rows = await db.read((sql) =>
        sql.unsafe<{ idx: PaymentIndex; json: string }[]>(text, values),
      );
      const page = rows.slice(0, query.limit);
      const more = rows.length > query.limit;
      return {
        json: page.map(({ json }) => json),
        nextIndex: more ? (page.at(-1)?.idx ?? null) : null,
      };
    },
    refresh: (walletId, payment) =>
      db.write(walletId, async (tx) => {
        const json = JSON.stringify(encodePayment(payment));
        await tx`UPDATE wallet_sidecar.cache SET status = ${payment.status}, json = ${json}
          WHERE wallet = ${walletId} AND idx = ${payment.index} AND json <> ${json}`;
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
    text: `SELECT idx, json FROM wallet_sidecar.cache WHERE ${where.replaceAll('?', () => `$${++at}`)} ORDER BY idx ${order} LIMIT ${query.limit + 1}`,
    values: [...values],
  };
}
