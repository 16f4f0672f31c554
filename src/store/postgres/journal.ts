import type { SQL } from 'bun';
import type { Payment } from '../../model/payment.ts';
import {
  idOfIndex,
  idOfUpdatedIndex,
  type PaymentIndex,
  updatedAtOfIndex,
  updatedIndex,
} from '../../model/payment-index.ts';
import {
  columnsOfJournal,
  type JournalColumns,
  journalRowOf,
  paymentOf,
} from '../columns/journal.ts';
import type { JournalRow, PaymentJournal } from '../ports.ts';
import { HIDDEN, SIGNED } from '../signed-tables.ts';
import type { Database } from './database.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import { together } from './together.ts';
import { numberOf } from './values.ts';

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

/** Writes rows, each with the wallet's next `updated_at`, which strictly increases (docs/decisions.md 25). */
export interface JournalWriter {
  /** Returns the payment with its `updated_at`, and the statement that stores it, which must be waited for. */
  put(
    row: JournalRow,
    nowMs: number,
  ): { readonly payment: Payment; readonly stored: Promise<unknown> };
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

/**
 * Rows of the journal, for ports that write them inside their own transactions. A row that does not fit is not there.
 */
export interface JournalRows {
  get(sql: SQL, walletId: string, index: string): Promise<JournalRow | null>;
  /** See {@link PaymentJournal.latest}. */
  latest(sql: SQL, walletId: string, id: string): Promise<JournalRow | null>;
  writer(tx: SQL, walletId: string): Promise<JournalWriter>;
  /** Writes a row that readers are not shown: its `updated_at` is below 0, which is in no order. */
  putHidden(tx: SQL, walletId: string, row: JournalRow): Promise<void>;
  /**
   * The rows with these payment ids, each with whether its payment has a watch of its own, and whether it has a spend
   * that may not say yet what the node has shown.
   */
  ofIds(
    tx: SQL,
    walletId: string,
    ids: readonly string[],
  ): Promise<
    { readonly row: JournalRow; readonly isWatched: boolean; readonly isUnshown: boolean }[]
  >;
  /** Stores a row with another attempt, which is not an update of its payment. */
  setAttempt(tx: SQL, walletId: string, row: JournalRow): Promise<void>;
  /** Deletes the row, also of the cache. */
  remove(tx: SQL, walletId: string, index: string): Promise<void>;
  /** Deletes the row, whose index leads to that of the other payment from then on. */
  giveWay(tx: SQL, walletId: string, index: string, to: string): Promise<void>;
  /** The index to which this one leads; null where it leads to none. */
  ledTo(sql: SQL, walletId: string, index: string): Promise<string | null>;
  /** The payments of rows. */
  payments(rows: readonly RawRow[]): Payment[];
}

/** A way of the table of those. */
interface WayColumns {
  readonly wallet: string;
  readonly idx: string;
  readonly to_idx: string;
}

/** Returns the rows of the journal. */
export function journalRows(signed: SignedRows): JournalRows {
  const rowOf = (raw: RawRow): JournalRow | null => {
    const columns = signed.read<JournalColumns>(SIGNED.journal, raw);
    return columns && journalRowOf(columns);
  };
  return {
    async get(sql, walletId, index) {
      const [row] = await sql<RawRow[]>`
        SELECT * FROM wallet_sidecar.journal WHERE wallet = ${walletId} AND idx = ${index}`;
      return row ? rowOf(row) : null;
    },
    async latest(sql, walletId, id) {
      const rows = await sql<RawRow[]>`
        SELECT * FROM wallet_sidecar.journal
        WHERE wallet = ${walletId} AND substr(idx, 21) = ${id} ORDER BY status = 'failed', idx DESC`;
      for (const raw of rows) {
        const row = rowOf(raw);
        if (row) return row;
      }
      return null;
    },
    async writer(tx, walletId) {
      let last = await lastMs(tx, walletId);
      return {
        put(row, nowMs) {
          last = Math.max(nowMs, last + 1);
          const payment = { ...row.payment, updatedAtMs: last };
          const columns = columnsOfJournal(walletId, { ...row, payment, isHidden: false });
          const stored = tx`INSERT INTO wallet_sidecar.journal (wallet, idx, updated_at, status, json, attempt, after_attempt, mac)
            VALUES (${walletId}, ${columns.idx}, ${last}, ${columns.status}, ${columns.json}, ${columns.attempt},
              ${columns.after_attempt}, ${signed.mac(SIGNED.journal, columns)})
            ON CONFLICT (wallet, idx) DO UPDATE SET updated_at = excluded.updated_at, status = excluded.status,
              json = excluded.json, attempt = excluded.attempt, after_attempt = excluded.after_attempt,
              mac = excluded.mac`;
          return { payment, stored };
        },
      };
    },
    async putHidden(tx, walletId, row) {
      const columns = columnsOfJournal(walletId, { ...row, isHidden: true });
      await tx`INSERT INTO wallet_sidecar.journal (wallet, idx, updated_at, status, json, attempt, after_attempt, mac)
        SELECT ${walletId}::text, ${columns.idx}::text, least(min(updated_at), 0) - 1, ${columns.status}::text,
          ${columns.json}::text, ${columns.attempt}::bigint, ${columns.after_attempt}::bigint,
          ${signed.mac(SIGNED.journal, columns)}::text
        FROM wallet_sidecar.journal WHERE wallet = ${walletId}`;
    },
    async ofIds(tx, walletId, ids) {
      // In this form each id is looked up in the index. With `= ANY` PostgreSQL reads all rows of the wallet by a plan
      // that it made when the table was small, and otherwise plans anew each time.
      const rows = await tx<(RawRow & { readonly watched: boolean; readonly unshown: boolean })[]>`
        SELECT found.* FROM jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) AS wanted (id)
        CROSS JOIN LATERAL (
          SELECT j.*,
            EXISTS (SELECT 1 FROM wallet_sidecar.spend s WHERE s.wallet = j.wallet AND s.idx = j.idx
              AND (s.state <> 'known' OR s.attempt IS NULL)) AS unshown,
            EXISTS (SELECT 1 FROM wallet_sidecar.watch w
              WHERE w.wallet = j.wallet AND w.kind IN ('payment', 'held') AND w.key = j.idx) AS watched
          FROM wallet_sidecar.journal j WHERE wallet = ${walletId} AND substr(idx, 21) = wanted.id OFFSET 0) found`;
      return rows.flatMap((raw) => {
        const row = rowOf(raw);
        return row ? [{ row, isWatched: raw.watched, isUnshown: raw.unshown }] : [];
      });
    },
    async setAttempt(tx, walletId, row) {
      const columns = columnsOfJournal(walletId, row);
      await tx`UPDATE wallet_sidecar.journal SET attempt = ${columns.attempt}, json = ${columns.json},
          mac = ${signed.mac(SIGNED.journal, columns)}
        WHERE wallet = ${walletId} AND idx = ${columns.idx}
          AND greatest(updated_at, ${HIDDEN}::bigint) = ${columns.updated_at}::bigint`;
    },
    remove,
    async giveWay(tx, walletId, index, to) {
      await remove(tx, walletId, index);
      const mac = signed.mac(SIGNED.givenWay, { wallet: walletId, idx: index, to_idx: to });
      await tx`INSERT INTO wallet_sidecar.given_way (wallet, idx, to_idx, mac)
        VALUES (${walletId}, ${index}, ${to}, ${mac})
        ON CONFLICT (wallet, idx) DO UPDATE SET to_idx = excluded.to_idx, mac = excluded.mac`;
    },
    async ledTo(sql, walletId, index) {
      const [row] = await sql<RawRow[]>`
        SELECT * FROM wallet_sidecar.given_way WHERE wallet = ${walletId} AND idx = ${index}`;
      return row ? (signed.read<WayColumns>(SIGNED.givenWay, row)?.to_idx ?? null) : null;
    },
    payments: (rows) => signed.readAll<JournalColumns>(SIGNED.journal, rows).map(paymentOf),
  };
}

/** Returns the {@link PaymentJournal} over PostgreSQL. */
export function postgresJournal(db: Database, rows: JournalRows): PaymentJournal {
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
    async updatedAfter(walletId, start, limit) {
      const payments: Payment[] = [];
      let [atMs, id]: [number, string] =
        start === null ? [0, ''] : [updatedAtOfIndex(start), idOfUpdatedIndex(start)];
      for (;;) {
        const wanted = limit - payments.length;
        const page = await db.read(
          (sql) => sql<(RawRow & Tip)[]>`
            SELECT * FROM wallet_sidecar.journal WHERE wallet = ${walletId}
              AND updated_at >= ${atMs} AND (updated_at, substr(idx, 21)) > (${atMs}, ${id})
            ORDER BY updated_at LIMIT ${wanted}`,
        );
        payments.push(...rows.payments(page));
        const last = page.at(-1);
        // Rows that do not fit are left out, and do not end the page.
        if (page.length < wanted || payments.length === limit || !last) return payments;
        [atMs, id] = [numberOf(last.updated_at), idOfIndex(last.idx)];
      }
    },
    get: (walletId, index) =>
      db.read(async (sql) => {
        const row = await rows.get(sql, walletId, index);
        if (row) return row.payment;
        const to = await rows.ledTo(sql, walletId, index);
        return to === null ? null : ((await rows.get(sql, walletId, to))?.payment ?? null);
      }),
    latest: async (walletId, id) =>
      (await db.read((sql) => rows.latest(sql, walletId, id)))?.payment ?? null,
    show: (walletId, index) =>
      db.write(walletId, async (tx) => {
        const [row, writer] = await together([
          rows.get(tx, walletId, index),
          rows.writer(tx, walletId),
        ]);
        if (!row?.isHidden) return null;
        const { payment, stored } = writer.put(row, row.payment.createdAtMs);
        await stored;
        return payment;
      }),
    open: async (walletId) =>
      rows.payments(
        await db.read(
          (sql) => sql<RawRow[]>`
            SELECT * FROM wallet_sidecar.journal WHERE wallet = ${walletId} AND status = 'pending' ORDER BY idx`,
        ),
      ),
    openOnchain: async (walletId) =>
      rows.payments(
        await db.read(
          (sql) => sql<RawRow[]>`
            SELECT * FROM wallet_sidecar.journal WHERE wallet = ${walletId} AND status = 'pending'
              AND substr(idx, 21, 3) IN ('os_', 'or_') ORDER BY idx`,
        ),
      ),
    setPersonalNote: (walletId, index, note, nowMs) =>
      db.write(walletId, async (tx) => {
        const [row, writer] = await together([
          rows.get(tx, walletId, index),
          rows.writer(tx, walletId),
        ]);
        if (!row) return null;
        const noted = { ...row.payment, personalNote: note };
        const { payment, stored } = writer.put({ ...row, payment: noted }, nowMs);
        await stored;
        return payment;
      }),
  };
}
