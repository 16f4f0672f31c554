import type { SQL } from 'bun';
import { encodePayment, isFinal, type Payment } from '../../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';
import { cacheConditions } from '../cache-conditions.ts';
import type { CacheQuery, PaymentCache } from '../ports.ts';
import type { Database } from './database.ts';

type State = 'new' | 'updated' | 'same';

async function update(tx: SQL, walletId: string, payment: Payment): Promise<State> {
  const { index, status } = payment;
  const json = JSON.stringify(encodePayment(payment));
  const { count } = await tx`UPDATE cache SET status = ${status}, json = ${json}
    WHERE wallet = ${walletId} AND idx = ${index} AND json <> ${json}`;
  return count > 0 ? 'updated' : 'same';
}

async function put(tx: SQL, walletId: string, payment: Payment): Promise<State> {
  const { index, status, direction, rail } = payment;
  const json = JSON.stringify(encodePayment(payment));
  const { count } = await tx`INSERT INTO cache (wallet, idx, status, direction, rail, json)
    VALUES (${walletId}, ${index}, ${status}, ${direction}, ${rail}, ${json}) ON CONFLICT DO NOTHING`;
  return count > 0 ? 'new' : update(tx, walletId, payment);
}

/** Returns the {@link PaymentCache} over PostgreSQL. */
export function postgresPaymentCache(db: Database): PaymentCache {
  return {
    async cursor(walletId) {
      const [row] = await db.read(
        (sql) => sql<{ updated_idx: UpdatedIndex }[]>`
          SELECT updated_idx FROM cache_cursor WHERE wallet = ${walletId}`,
      );
      return row?.updated_idx ?? null;
    },
    apply: (walletId, payments, cursor) =>
      db.write(walletId, async (tx) => {
        const counts = { new: 0, updated: 0, same: 0 };
        for (const payment of payments) counts[await put(tx, walletId, payment)]++;
        if (cursor !== null) {
          await tx`INSERT INTO cache_cursor (wallet, updated_idx) VALUES (${walletId}, ${cursor})
            ON CONFLICT (wallet) DO UPDATE SET
              updated_idx = greatest(cache_cursor.updated_idx, excluded.updated_idx)`;
        }
        return { numNew: counts.new, numUpdated: counts.updated };
      }),
    async get(walletId, index) {
      const [row] = await db.read(
        (sql) => sql<{ json: string; status: Payment['status'] }[]>`
          SELECT json, status FROM cache WHERE wallet = ${walletId} AND idx = ${index}`,
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
      db.write(walletId, async (tx) => void (await update(tx, walletId, payment))),
    clear: (walletId) =>
      db.write(walletId, async (tx) => {
        await tx`DELETE FROM cache WHERE wallet = ${walletId}`;
        await tx`DELETE FROM cache_cursor WHERE wallet = ${walletId}`;
      }),
  };
}

/** Reads one row more than was asked for, to know whether there is a next page. */
function listQuery(walletId: string, query: CacheQuery): { text: string; values: string[] } {
  const { where, values, order } = cacheConditions(walletId, query);
  let at = 0;
  return {
    text: `SELECT idx, json FROM cache WHERE ${where.replaceAll('?', () => `$${++at}`)} ORDER BY idx ${order} LIMIT ${query.limit + 1}`,
    values: [...values],
  };
}
