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
import type { RawRow, RowDatabase, Rows } from './rows.ts';
import { type Steps, together } from './steps.ts';
import { tableOf } from './table.ts';

/** The id of a payment, which is the end of its index. The schema's indexes have the same expression. */
export const ID = 'substr(idx, 21)';

/** Writes rows, each with the wallet's next `updated_at`, which strictly increases (docs/decisions.md 25). */
export interface JournalWriter {
  /** Returns the payment with its `updated_at`, and the work that stores it. */
  put(
    row: JournalRow,
    nowMs: number,
  ): { readonly payment: Payment; readonly stored: Steps<unknown> };
}

/** Rows of the journal, for ports that write them inside their own transactions. */
export interface JournalRows {
  get(walletId: string, index: string): Steps<JournalRow | null>;
  /** The columns of every row of a payment id, oldest first. A hash may have thousands of attempts. */
  ofId(walletId: string, id: string): Steps<JournalColumns[]>;
  /** See {@link PaymentJournal.latest}. */
  latest(walletId: string, id: string): Steps<JournalRow | null>;
  writer(walletId: string): Steps<JournalWriter>;
  /** Writes a row that readers are not shown: its `updated_at` is below 0, which is in no order. */
  putHidden(walletId: string, row: JournalRow): Steps<unknown>;
  /** Stores a row with another attempt, which is not an update of its payment. */
  setAttempt(walletId: string, row: JournalRow): Steps<unknown>;
  /** Deletes the row, also of the cache. */
  remove(walletId: string, index: string): Steps<void>;
  /** Deletes the row, whose index leads to that of the other payment from then on. */
  giveWay(walletId: string, index: string, to: string): Steps<void>;
  /** The index to which this one leads; null where it leads to none. */
  ledTo(walletId: string, index: string): Steps<string | null>;
}

/** A way of the table of those. */
interface WayColumns {
  readonly wallet: string;
  readonly idx: string;
  readonly to_idx: string;
}

/** The newest of the rows of an id that did not fail, or else the newest; they stand oldest first. */
export function latestOf<Row extends Pick<JournalColumns, 'status'>>(
  rows: readonly Row[],
): Row | null {
  return rows.findLast(({ status }) => status !== 'failed') ?? rows.at(-1) ?? null;
}

/** Prepares the statements of the journal. A row that does not fit is not there. */
export function journalRows(rows: Rows): JournalRows {
  const { prepare, indexedBy } = rows;
  const table = tableOf<JournalColumns>(rows, SIGNED.journal);
  const byIndex = table.select('WHERE wallet = ? AND idx = ?', { of: journalRowOf });
  const byId = table.select(
    `${indexedBy('journal_by_id')} WHERE wallet = ? AND ${ID} = ? ORDER BY idx`,
  );
  const last = prepare<{ kept: number | null; removed: number | null }>(
    `SELECT (SELECT max(updated_at) FROM wallet_sidecar.journal WHERE wallet = ?1) AS kept,
       (SELECT updated_at FROM wallet_sidecar.journal_tip WHERE wallet = ?1) AS removed`,
  );
  const keepTip = prepare(
    `INSERT INTO wallet_sidecar.journal_tip (wallet, updated_at) VALUES (?, ?)
     ON CONFLICT (wallet) DO UPDATE SET updated_at = excluded.updated_at`,
  );
  const upsert = table.upsert();
  const insertHidden = prepare(
    `INSERT INTO wallet_sidecar.journal (wallet, idx, updated_at, status, json, attempt, after_attempt, mac)
     VALUES (?1, ?2, coalesce((SELECT updated_at FROM wallet_sidecar.journal
       WHERE wallet = ?1 AND updated_at < 0 ORDER BY updated_at LIMIT 1), 0) - 1, ?3, ?4, ?5, ?6, ?7)`,
  );
  const setAttempt = prepare(
    `UPDATE wallet_sidecar.journal SET attempt = ?, json = ?, mac = ? WHERE wallet = ? AND idx = ?
       AND CASE WHEN updated_at < ${HIDDEN} THEN ${HIDDEN} ELSE updated_at END = ?`,
  );
  const removeRow = table.remove();
  const uncache = prepare('DELETE FROM wallet_sidecar.cache WHERE wallet = ? AND idx = ?');
  const ways = tableOf<WayColumns>(rows, SIGNED.givenWay);
  const putWay = ways.upsert();
  const way = ways.select('WHERE wallet = ? AND idx = ?', { of: (row) => row.to_idx });

  /**
   * The latest `updated_at` that was given in each wallet since it was first read. No other process writes the journal
   * while this store may, and one that was undone is passed over: later ones need only be greater.
   */
  const given = new Map<string, number>();

  /** The wallet's latest `updated_at`, removed rows included; 0 where there is none. */
  function* lastMs(walletId: string): Steps<number> {
    const known = given.get(walletId);
    if (known !== undefined) return known;
    const { kept, removed } = (yield* last.one(walletId)) ?? {};
    return Math.max(0, kept ?? 0, removed ?? 0);
  }

  function* remove(walletId: string, index: string): Steps<void> {
    // Later rows must come after the removed one, also when the clock is set back meanwhile.
    const beforeMs = yield* lastMs(walletId);
    if ((yield* removeRow(walletId, index)) === 0) return;
    yield* together([keepTip.run(walletId, beforeMs), uncache.run(walletId, index)]);
  }

  return {
    get: byIndex.one,
    ofId: byId.all,
    *latest(walletId, id) {
      const newest = latestOf(yield* byId.all(walletId, id));
      return newest && journalRowOf(newest);
    },
    *writer(walletId) {
      const readMs = yield* lastMs(walletId);
      return {
        put(row, nowMs) {
          const updatedAtMs = Math.max(nowMs, (given.get(walletId) ?? readMs) + 1);
          given.set(walletId, updatedAtMs);
          const payment = { ...row.payment, updatedAtMs };
          const shown = columnsOfJournal(walletId, { ...row, payment, isHidden: false });
          return { payment, stored: upsert(shown) };
        },
      };
    },
    putHidden(walletId, hidden) {
      const row = columnsOfJournal(walletId, { ...hidden, isHidden: true });
      const { idx, status, json, attempt, after_attempt: after } = row;
      return insertHidden.run(walletId, idx, status, json, attempt, after, table.mac(row));
    },
    setAttempt(walletId, changed) {
      const row = columnsOfJournal(walletId, changed);
      const { idx, attempt, json, updated_at: updatedAt } = row;
      return setAttempt.run(attempt, json, table.mac(row), walletId, idx, updatedAt);
    },
    remove,
    *giveWay(wallet, idx, to) {
      yield* remove(wallet, idx);
      yield* putWay({ wallet, idx, to_idx: to });
    },
    ledTo: way.one,
  };
}

/** Returns the {@link PaymentJournal}. */
export function paymentJournal(db: RowDatabase, rows: Rows, journal: JournalRows): PaymentJournal {
  const table = tableOf<JournalColumns>(rows, SIGNED.journal);
  const tip = rows.prepare<{ idx: PaymentIndex; updated_at: number }>(
    `SELECT idx, updated_at FROM wallet_sidecar.journal WHERE wallet = ? AND updated_at >= 0
     ORDER BY updated_at DESC LIMIT 1`,
  );
  const after = table.select(
    `WHERE wallet = ?1 AND updated_at >= ?2 AND (updated_at, ${ID}) > (?2, ?3)
     ORDER BY updated_at LIMIT ?4`,
    { of: paymentOf },
  );
  const pending = `${rows.indexedBy('journal_open')} WHERE wallet = ? AND status = 'pending'`;
  const open = table.select(`${pending} ORDER BY idx`, { of: paymentOf });
  // The prefix of the payment's id stands in the index, so that the rows of other payments are not read.
  const openOnchain = table.select(
    `${pending} AND substr(idx, 21, 3) IN ('os_', 'or_') ORDER BY idx`,
    { of: paymentOf },
  );

  /** Writes what `change` makes of a row, with the next `updated_at`. Null where it returns null. */
  const changed = (
    walletId: string,
    index: PaymentIndex,
    change: (row: JournalRow) => { readonly payment: Payment; readonly nowMs: number } | null,
  ) =>
    db.write(walletId, function* () {
      const [row, writer] = yield* together([
        journal.get(walletId, index),
        journal.writer(walletId),
      ]);
      const next = row && change(row);
      if (!row || !next) return null;
      const { payment, stored } = writer.put({ ...row, payment: next.payment }, next.nowMs);
      yield* stored;
      return payment;
    });

  return {
    async tip(walletId) {
      const newest = await db.read(() => tip.one(walletId));
      return newest && updatedIndex(newest.updated_at, idOfIndex(newest.idx));
    },
    async updatedAfter(walletId, start, limit) {
      const payments: Payment[] = [];
      let [atMs, id]: [number, string] =
        start === null ? [0, ''] : [updatedAtOfIndex(start), idOfUpdatedIndex(start)];
      for (;;) {
        const wanted = limit - payments.length;
        const page = await db.read(() => after.raw.all(walletId, atMs, id, wanted));
        payments.push(...page.flatMap((raw) => after.read(raw) ?? []));
        const last = page.at(-1) as (RawRow & JournalColumns) | undefined;
        // Rows that do not fit are left out, and do not end the page.
        if (page.length < wanted || payments.length === limit || !last) return payments;
        [atMs, id] = [last.updated_at, idOfIndex(last.idx)];
      }
    },
    get: (walletId, index) =>
      db.read(function* () {
        const row = yield* journal.get(walletId, index);
        if (row) return row.payment;
        const to = yield* journal.ledTo(walletId, index);
        return to === null ? null : ((yield* journal.get(walletId, to))?.payment ?? null);
      }),
    latest: async (walletId, id) =>
      (await db.read(() => journal.latest(walletId, id)))?.payment ?? null,
    show: (walletId, index) =>
      changed(walletId, index, ({ isHidden, payment }) =>
        isHidden ? { payment, nowMs: payment.createdAtMs } : null,
      ),
    open: (walletId) => db.read(() => open.all(walletId)),
    openOnchain: (walletId) => db.read(() => openOnchain.all(walletId)),
    setPersonalNote: (walletId, index, note, nowMs) =>
      changed(walletId, index, ({ payment }) => ({
        payment: { ...payment, personalNote: note },
        nowMs,
      })),
  };
}
