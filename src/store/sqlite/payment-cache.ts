import type { Database, SQLQueryBindings } from 'bun:sqlite';
import { isFinal, type Payment } from '../../model/payment.ts';
import type { UpdatedIndex } from '../../model/payment-index.ts';
import { cacheConditions } from '../cache-conditions.ts';
import { type CachedColumns, columnsOfCached } from '../columns/cached.ts';
import { mayGiveWay } from '../giving-way.ts';
import type { CacheQuery, PaymentCache } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { columnList, columnNames, placeholders, type Stored } from './signed-table.ts';
import type { WriteQueue } from './write-queue.ts';

/**
 * Payments, about 2 MB, after which the log is moved into the file. The 16 MB that it may have would hold up requests
 * for long.
 */
const MOST_LOGGED = 1000;

/** Rows of a statement. Within one, SQLite goes on where an index ended; a new one searches that place again. */
const ROWS = 25;

type Row = Stored<CachedColumns>;

const NAMES = columnNames(SIGNED.cache);
const COLUMNS = columnList(SIGNED.cache);

interface Counts {
  readonly numNew: number;
  readonly numUpdated: number;
}

/** Returns the {@link PaymentCache} over SQLite. */
export function sqlitePaymentCache(
  db: Database,
  queue: WriteQueue,
  signer: RowSigner,
): PaymentCache {
  const readCursor = db.prepare<{ updated_idx: string }, [string]>(
    'SELECT updated_idx FROM cache_cursor WHERE wallet = ?',
  );
  const writeCursor = db.prepare(
    `INSERT INTO cache_cursor (wallet, updated_idx) VALUES (?, ?)
     ON CONFLICT (wallet) DO UPDATE SET updated_idx = max(updated_idx, excluded.updated_idx)`,
  );
  const readRow = db.prepare<Row, [string, string]>(
    `SELECT ${COLUMNS} FROM cache WHERE wallet = ? AND idx = ?`,
  );
  const insertRow = db.prepare(insertOf(1));
  const insertRows = db.prepare(insertOf(ROWS));
  const updateRow = db.prepare(
    'UPDATE cache SET status = ?, json = ?, mac = ? WHERE wallet = ? AND idx = ? AND json != ?2',
  );
  const isJournaled = db.prepare('SELECT 1 FROM journal WHERE wallet = ? AND idx = ?');
  const clearRows = db.prepare('DELETE FROM cache WHERE wallet = ?');
  const clearCursor = db.prepare('DELETE FROM cache_cursor WHERE wallet = ?');

  const fits = (row: Row) => signer.fits(SIGNED.cache, row);

  function signed(walletId: string, payment: Payment): Row {
    const row = columnsOfCached(walletId, payment);
    return { ...row, mac: signer.mac(SIGNED.cache, row) };
  }

  function update({ wallet, idx, status, json, mac }: Row): number {
    return updateRow.run(status, json, mac, wallet, idx).changes;
  }

  let logged = 0;

  function put(walletId: string, payments: readonly Payment[]): Counts {
    const rows = payments.map((payment) => signed(walletId, payment));
    let [numNew, numUpdated] = [0, 0];
    while (rows.length > 0) {
      const isEnough = rows.length >= ROWS;
      const some = rows.splice(0, isEnough ? ROWS : 1);
      const { changes } = (isEnough ? insertRows : insertRow).run(
        ...some.flatMap((row) => NAMES.map((name) => row[name])),
      );
      numNew += changes;
      if (changes === some.length) continue;
      // A row that was just inserted does not differ from what is stored.
      for (const row of some) numUpdated += update(row);
    }
    return { numNew, numUpdated };
  }

  return {
    async cursor(walletId) {
      return (readCursor.get(walletId)?.updated_idx as UpdatedIndex | undefined) ?? null;
    },
    async apply(walletId, payments, cursor, readFrom = 'node') {
      const isThere = (payment: Payment) =>
        !mayGiveWay(payment) || isJournaled.get(walletId, payment.index) !== null;
      const stored = await queue.write(() => {
        const counts = put(walletId, readFrom === 'node' ? payments : payments.filter(isThere));
        if (cursor !== null) writeCursor.run(walletId, cursor);
        return counts;
      });
      logged += payments.length;
      if (logged >= MOST_LOGGED) {
        logged = 0;
        await queue.moveLog();
      }
      return stored;
    },
    async get(walletId, index) {
      const row = readRow.get(walletId, index);
      return row && fits(row) ? { json: row.json, final: isFinal(row) } : null;
    },
    async list(walletId, query) {
      const { sql, bindings } = listQuery(walletId, query);
      const rows = db.query<Row, SQLQueryBindings[]>(sql).all(...bindings);
      const page = rows.slice(0, query.limit);
      const more = rows.length > query.limit;
      return {
        json: page.filter(fits).map((row) => row.json),
        nextIndex: more ? (page.at(-1)?.idx ?? null) : null,
      };
    },
    refresh: (walletId, payment) => queue.write(() => void update(signed(walletId, payment))),
    clear: (walletId) =>
      queue.write(() => {
        clearRows.run(walletId);
        clearCursor.run(walletId);
      }),
  };
}

/** Inserts rows that are not there yet. */
function insertOf(rows: number): string {
  const values = Array.from({ length: rows }, () => placeholders(SIGNED.cache));
  return `INSERT INTO cache (${COLUMNS}) VALUES ${values.join(', ')}
    ON CONFLICT DO NOTHING`;
}

/** Reads one row more than was asked for, to know whether there is a next page. */
function listQuery(
  walletId: string,
  query: CacheQuery,
): { sql: string; bindings: SQLQueryBindings[] } {
  const { where, values, order } = cacheConditions(walletId, query);
  return {
    sql: `SELECT ${COLUMNS} FROM cache WHERE ${where} ORDER BY idx ${order} LIMIT ?`,
    bindings: [...values, query.limit + 1],
  };
}
