import type { SQL } from 'bun';
import { decodePayment, encodePayment, type Payment } from '../../model/payment.ts';
import {
  idOfIndex,
  idOfUpdatedIndex,
  type PaymentIndex,
  type UpdatedIndex,
  updatedAtOfIndex,
  updatedIndex,
} from '../../model/payment-index.ts';
import type { JournalRow, PaymentJournal } from '../ports.ts';
import type { Database } from './database.ts';
import { together } from './together.ts';
import { numberOf, numberOrNull } from './values.ts';

interface Row {
  readonly json: string;
  readonly updated_at: bigint;
  readonly attempt: bigint | null;
  readonly after_attempt: bigint | null;
}

interface Tip {
  readonly idx: PaymentIndex;
  readonly updated_at: bigint;
}

/** The wallet's latest `updated_at`, removed rows included; 0 where there is none. */
async function lastMs(tx: SQL, walletId: string): Promise<number> {
  const [row] = await tx<{ last: bigint }[]>`
    SELECT greatest(
      coalesce((SELECT max(updated_at) FROM wallet_sidecar.journal WHERE wallet = ${walletId}), 0),
      coalesce((SELECT updated_at FROM wallet_sidecar.journal_tip WHERE wallet = ${walletId}), 0)) AS last`;
  return numberOf(row?.last ?? 0n);
}

async function get(sql: SQL, walletId: string, index: string): Promise<JournalRow | null> {
  const [row] = await sql<Row[]>`
    SELECT json, updated_at, attempt, after_attempt FROM wallet_sidecar.journal
    WHERE wallet = ${walletId} AND idx = ${index}`;
  return row ? decodeRow(row) : null;
}

async function latest(sql: SQL, walletId: string, id: string): Promise<JournalRow | null> {
  const [row] = await sql<Row[]>`
    SELECT json, updated_at, attempt, after_attempt FROM wallet_sidecar.journal
    WHERE wallet = ${walletId} AND substr(idx, 21) = ${id} ORDER BY status = 'failed', idx DESC LIMIT 1`;
  return row ? decodeRow(row) : null;
}

/** Writes rows, each with the wallet's next `updated_at`, which strictly increases (docs/decisions.md 25). */
export interface JournalWriter {
  /** Returns the payment with its `updated_at`, and the statement that stores it, which must be waited for. */
  put(
    row: JournalRow,
    nowMs: number,
  ): { readonly payment: Payment; readonly stored: Promise<unknown> };
}

async function writer(tx: SQL, walletId: string): Promise<JournalWriter> {
  let last = await lastMs(tx, walletId);
  return {
    put({ payment, attempt, afterAttempt }, nowMs) {
      last = Math.max(nowMs, last + 1);
      const updated = { ...payment, updatedAtMs: last };
      const json = JSON.stringify(encodePayment(updated));
      const stored = tx`INSERT INTO wallet_sidecar.journal (wallet, idx, updated_at, status, json, attempt, after_attempt)
        VALUES (${walletId}, ${updated.index}, ${last}, ${updated.status}, ${json}, ${attempt}, ${afterAttempt})
        ON CONFLICT (wallet, idx) DO UPDATE SET updated_at = excluded.updated_at, status = excluded.status,
          json = excluded.json, attempt = excluded.attempt, after_attempt = excluded.after_attempt`;
      return { payment: updated, stored };
    },
  };
}

/** Writes a row that readers are not shown: its `updated_at` is below 0, which is in no order. */
async function putHidden(
  tx: SQL,
  walletId: string,
  { payment, attempt, afterAttempt }: JournalRow,
): Promise<void> {
  const { index, status } = payment;
  const json = JSON.stringify(encodePayment(payment));
  await tx`INSERT INTO wallet_sidecar.journal (wallet, idx, updated_at, status, json, attempt, after_attempt)
    SELECT ${walletId}::text, ${index}::text, least(min(updated_at), 0) - 1, ${status}::text, ${json}::text,
      ${attempt}::bigint, ${afterAttempt}::bigint
    FROM wallet_sidecar.journal WHERE wallet = ${walletId}`;
}

async function remove(tx: SQL, walletId: string, index: string): Promise<void> {
  // Later rows must come after the removed one, also when the clock is set back meanwhile.
  const beforeMs = await lastMs(tx, walletId);
  const { count } =
    await tx`DELETE FROM wallet_sidecar.journal WHERE wallet = ${walletId} AND idx = ${index}`;
  if (count === 0) return;
  await together([
    tx`INSERT INTO wallet_sidecar.journal_tip (wallet, updated_at) VALUES (${walletId}, ${beforeMs})
      ON CONFLICT (wallet) DO UPDATE SET updated_at = excluded.updated_at`,
    tx`DELETE FROM wallet_sidecar.cache WHERE wallet = ${walletId} AND idx = ${index}`,
  ]);
}

/** Rows of the journal, for ports that write them inside their own transactions. */
export const journalRows = {
  get,
  latest,
  writer,
  putHidden,
  /**
   * The rows with these payment ids, each with whether its payment has a watch of its own, and whether it has a spend
   * that may not say yet what the node has shown.
   */
  async ofIds(
    tx: SQL,
    walletId: string,
    ids: readonly string[],
  ): Promise<
    { readonly row: JournalRow; readonly isWatched: boolean; readonly isUnshown: boolean }[]
  > {
    // In this form each id is looked up in the index. With `= ANY` PostgreSQL reads all rows of the wallet by a plan
    // that it made when the table was small, and otherwise plans anew each time.
    const rows = await tx<(Row & { readonly watched: boolean; readonly unshown: boolean })[]>`
      SELECT found.* FROM jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) AS wanted (id)
      CROSS JOIN LATERAL (
        SELECT json, updated_at, attempt, after_attempt,
          EXISTS (SELECT 1 FROM wallet_sidecar.spend s WHERE s.wallet = j.wallet AND s.idx = j.idx
            AND (s.state <> 'known' OR s.attempt IS NULL)) AS unshown,
          EXISTS (SELECT 1 FROM wallet_sidecar.watch w
            WHERE w.wallet = j.wallet AND w.kind IN ('payment', 'held') AND w.key = j.idx) AS watched
        FROM wallet_sidecar.journal j WHERE wallet = ${walletId} AND substr(idx, 21) = wanted.id OFFSET 0) found`;
    return rows.map((row) => ({
      row: decodeRow(row),
      isWatched: row.watched,
      isUnshown: row.unshown,
    }));
  },
  /** Stores the attempt of a row, which is not an update of its payment. */
  async setAttempt(tx: SQL, walletId: string, index: string, attempt: number): Promise<void> {
    await tx`UPDATE wallet_sidecar.journal SET attempt = ${attempt} WHERE wallet = ${walletId} AND idx = ${index}`;
  },
  /** Deletes the row, also of the cache. */
  remove,
  /** Deletes the row, whose index leads to that of the other payment from then on. */
  async giveWay(tx: SQL, walletId: string, index: string, to: string): Promise<void> {
    await remove(tx, walletId, index);
    await tx`INSERT INTO wallet_sidecar.given_way (wallet, idx, to_idx) VALUES (${walletId}, ${index}, ${to})
      ON CONFLICT (wallet, idx) DO UPDATE SET to_idx = excluded.to_idx`;
  },
};

/** Returns the {@link PaymentJournal} over PostgreSQL. */
export function postgresJournal(db: Database): PaymentJournal {
  return {
    async tip(walletId) {
      const [newest] = await db.read(
        (sql) => sql<
          Tip[]
        >`SELECT idx, updated_at FROM wallet_sidecar.journal WHERE wallet = ${walletId} AND updated_at >= 0
          ORDER BY updated_at DESC LIMIT 1`,
      );
      return newest ? updatedIndex(numberOf(newest.updated_at), idOfIndex(newest.idx)) : null;
    },
    updatedAfter: (walletId, start, limit) => updatedAfter(db, walletId, start, limit),
    get: (walletId, index) =>
      db.read(async (sql) => {
        const row = await get(sql, walletId, index);
        if (row) return row.payment;
        const [way] = await sql<{ to_idx: string }[]>`
          SELECT to_idx FROM wallet_sidecar.given_way WHERE wallet = ${walletId} AND idx = ${index}`;
        return way ? ((await get(sql, walletId, way.to_idx))?.payment ?? null) : null;
      }),
    latest: async (walletId, id) =>
      (await db.read((sql) => latest(sql, walletId, id)))?.payment ?? null,
    show: (walletId, index) =>
      db.write(walletId, async (tx) => {
        const [row, rows] = await together([get(tx, walletId, index), writer(tx, walletId)]);
        if (!row?.isHidden) return null;
        const { payment, stored } = rows.put(row, row.payment.createdAtMs);
        await stored;
        return payment;
      }),
    async open(walletId) {
      const rows = await db.read(
        (sql) => sql<Pick<Row, 'json'>[]>`
          SELECT json FROM wallet_sidecar.journal WHERE wallet = ${walletId} AND status = 'pending' ORDER BY idx`,
      );
      return rows.map(decode);
    },
    async openOnchain(walletId) {
      const rows = await db.read(
        (sql) => sql<Pick<Row, 'json'>[]>`
          SELECT json FROM wallet_sidecar.journal WHERE wallet = ${walletId} AND status = 'pending'
            AND substr(idx, 21, 3) IN ('os_', 'or_') ORDER BY idx`,
      );
      return rows.map(decode);
    },
    setPersonalNote: (walletId, index, note, nowMs) =>
      db.write(walletId, async (tx) => {
        const [row, rows] = await together([get(tx, walletId, index), writer(tx, walletId)]);
        if (!row) return null;
        const noted = { ...row.payment, personalNote: note };
        const { payment, stored } = rows.put({ ...row, payment: noted }, nowMs);
        await stored;
        return payment;
      }),
  };
}

async function updatedAfter(
  db: Database,
  walletId: string,
  start: UpdatedIndex | null,
  limit: number,
): Promise<Payment[]> {
  const [atMs, id] = start === null ? [0, ''] : [updatedAtOfIndex(start), idOfUpdatedIndex(start)];
  const rows = await db.read(
    (sql) => sql<Pick<Row, 'json'>[]>`
      SELECT json FROM wallet_sidecar.journal WHERE wallet = ${walletId}
        AND updated_at >= ${atMs} AND (updated_at, substr(idx, 21)) > (${atMs}, ${id})
      ORDER BY updated_at LIMIT ${limit}`,
  );
  return rows.map(decode);
}

function decode(row: Pick<Row, 'json'>): Payment {
  return decodePayment(JSON.parse(row.json));
}

function decodeRow(row: Row): JournalRow {
  return {
    payment: decode(row),
    attempt: numberOrNull(row.attempt),
    afterAttempt: numberOrNull(row.after_attempt),
    isHidden: numberOf(row.updated_at) < 0,
  };
}
