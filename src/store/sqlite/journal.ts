import type { Database } from 'bun:sqlite';
import type { Payment } from '../../model/payment.ts';
import {
  idOfIndex,
  idOfUpdatedIndex,
  type PaymentIndex,
  type UpdatedIndex,
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
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { columnList, rowWriter, type Stored } from './signed-table.ts';
import type { WriteQueue } from './write-queue.ts';

/** The id of a payment, which is the end of its index. The schema's indexes have the same expression. */
const ID = 'substr(idx, 21)';

/** A row as it is stored. */
type Row = Stored<JournalColumns>;

type WayRow = Stored<{
  readonly wallet: string;
  readonly idx: string;
  readonly to_idx: string;
}>;

const COLUMNS = columnList(SIGNED.journal);

/** Rows of the journal, for ports that write them inside their own transactions. */
export interface JournalRows {
  get(walletId: string, index: string): JournalRow | null;
  /** The payments of rows, without those that do not fit. */
  payments(rows: readonly Row[]): Payment[];
  /** The wallet's newest update. */
  tip(walletId: string): UpdatedIndex | null;
  /** See {@link PaymentJournal.latest}. */
  latest(walletId: string, id: string): JournalRow | null;
  /** The row with that payment id and attempt. */
  ofAttempt(walletId: string, id: string, attempt: number): JournalRow | null;
  /**
   * Writes the row with the wallet's next `updated_at`, which strictly increases (docs/decisions.md 25). Returns the
   * payment with it. Of many rows in one transaction, give the `updated_at` of the one before, which need not be read
   * then.
   */
  put(walletId: string, row: JournalRow, nowMs: number, beforeMs?: number): Payment;
  /** Writes a row that readers are not shown: its `updated_at` is below 0, which is in no order. */
  putHidden(walletId: string, row: JournalRow): void;
  /** Stores the attempt of a row, which is not an update of its payment. */
  setAttempt(walletId: string, index: string, attempt: number): void;
  /** Deletes the row, also of the cache. */
  remove(walletId: string, index: string): void;
  /** Deletes the row, whose index leads to that of the other payment from then on. */
  giveWay(walletId: string, index: string, to: string): void;
  /** The index to which this one leads; null where it leads to none. */
  ledTo(walletId: string, index: string): string | null;
}

/** Prepares the statements of the journal. A row that does not fit is not there. */
export function journalRows(db: Database, signer: RowSigner): JournalRows {
  const byIndex = db.prepare<Row, [string, string]>(
    `SELECT ${COLUMNS} FROM journal WHERE wallet = ? AND idx = ?`,
  );
  const byId = db.prepare<Row, [string, string]>(
    `SELECT ${COLUMNS} FROM journal INDEXED BY journal_by_id
     WHERE wallet = ? AND ${ID} = ? ORDER BY idx DESC`,
  );
  const byAttempt = db.prepare<Row, [string, string, number]>(
    `SELECT ${COLUMNS} FROM journal INDEXED BY journal_by_attempt
     WHERE wallet = ? AND ${ID} = ? AND attempt = ? LIMIT 1`,
  );
  const last = db.prepare<{ idx: PaymentIndex; updated_at: number }, [string]>(
    'SELECT idx, updated_at FROM journal WHERE wallet = ? AND updated_at >= 0 ORDER BY updated_at DESC LIMIT 1',
  );
  const removedTip = db.prepare<{ updated_at: number }, [string]>(
    'SELECT updated_at FROM journal_tip WHERE wallet = ?',
  );
  const keepTip = db.prepare(
    'INSERT OR REPLACE INTO journal_tip (wallet, updated_at) VALUES (?, ?)',
  );
  const lastMs = (walletId: string): number =>
    Math.max(last.get(walletId)?.updated_at ?? 0, removedTip.get(walletId)?.updated_at ?? 0);
  const upsert = rowWriter(db, signer, SIGNED.journal, {
    onConflict: `ON CONFLICT (wallet, idx) DO UPDATE SET updated_at = excluded.updated_at, status = excluded.status,
       json = excluded.json, attempt = excluded.attempt, after_attempt = excluded.after_attempt,
       mac = excluded.mac`,
  });
  const insertHidden = db.prepare(
    `INSERT INTO journal (wallet, idx, updated_at, status, json, attempt, after_attempt, mac)
     VALUES (?1, ?2,
       min(0, coalesce((SELECT updated_at FROM journal WHERE wallet = ?1 ORDER BY updated_at LIMIT 1), 0)) - 1,
       ?3, ?4, ?5, ?6, ?7)`,
  );
  const setAttempt = db.prepare(
    'UPDATE journal SET attempt = ?, mac = ? WHERE wallet = ? AND idx = ?',
  );
  const remove = db.prepare('DELETE FROM journal WHERE wallet = ? AND idx = ?');
  const uncache = db.prepare('DELETE FROM cache WHERE wallet = ? AND idx = ?');
  const giveWay = rowWriter(db, signer, SIGNED.givenWay, { verb: 'REPLACE' });
  const readWay = db.prepare<WayRow, [string, string]>(
    `SELECT ${columnList(SIGNED.givenWay)} FROM given_way WHERE wallet = ? AND idx = ?`,
  );
  const fits = (row: Row) => signer.fits(SIGNED.journal, row);
  const decodeRow = (row: Row | null): JournalRow | null =>
    row && fits(row) ? journalRowOf(row) : null;
  const removeRow = (walletId: string, index: string) => {
    // Later rows must come after the removed one, also when the clock is set back meanwhile.
    const beforeMs = lastMs(walletId);
    if (remove.run(walletId, index).changes === 0) return;
    keepTip.run(walletId, beforeMs);
    uncache.run(walletId, index);
  };
  return {
    get: (walletId, index) => decodeRow(byIndex.get(walletId, index)),
    payments: (rows) => rows.filter(fits).map(paymentOf),
    tip(walletId) {
      const newest = last.get(walletId);
      return newest && updatedIndex(newest.updated_at, idOfIndex(newest.idx));
    },
    latest(walletId, id) {
      let newest: Row | null = null;
      for (const row of byId.iterate(walletId, id)) {
        if (!fits(row)) continue;
        if (row.status !== 'failed') return decodeRow(row);
        newest ??= row;
      }
      return decodeRow(newest);
    },
    ofAttempt: (walletId, id, attempt) => decodeRow(byAttempt.get(walletId, id, attempt)),
    put(walletId, { payment, attempt, afterAttempt }, nowMs, beforeMs = lastMs(walletId)) {
      const updated = { ...payment, updatedAtMs: Math.max(nowMs, beforeMs + 1) };
      upsert(columnsOfJournal(walletId, { payment: updated, attempt, afterAttempt }));
      return updated;
    },
    putHidden(walletId, hidden) {
      const row = columnsOfJournal(walletId, { ...hidden, isHidden: true });
      const { idx, status, json, attempt, after_attempt: afterAttempt } = row;
      const mac = signer.mac(SIGNED.journal, row);
      insertHidden.run(walletId, idx, status, json, attempt, afterAttempt, mac);
    },
    setAttempt(walletId, index, attempt) {
      const row = byIndex.get(walletId, index);
      if (row === null || !fits(row)) return;
      setAttempt.run(attempt, signer.mac(SIGNED.journal, { ...row, attempt }), walletId, index);
    },
    remove: removeRow,
    giveWay(walletId, index, to) {
      removeRow(walletId, index);
      giveWay({ wallet: walletId, idx: index, to_idx: to });
    },
    ledTo(walletId, index) {
      const row = readWay.get(walletId, index);
      return row && signer.fits(SIGNED.givenWay, row) ? row.to_idx : null;
    },
  };
}

/** Returns the {@link PaymentJournal} over SQLite. */
export function sqliteJournal(db: Database, queue: WriteQueue, rows: JournalRows): PaymentJournal {
  const after = db.prepare<Row, [string, number, string, number]>(
    `SELECT ${COLUMNS} FROM journal WHERE wallet = ? AND (updated_at, ${ID}) > (?, ?) ORDER BY updated_at LIMIT ?`,
  );
  const open = db.prepare<Row, [string]>(
    `SELECT ${COLUMNS} FROM journal INDEXED BY journal_open WHERE wallet = ? AND status = 'pending' ORDER BY idx`,
  );
  // The prefix of the payment's id stands in the index, so that the rows of other payments are not read.
  const openOnchain = db.prepare<Row, [string]>(
    `SELECT ${COLUMNS} FROM journal INDEXED BY journal_open
     WHERE wallet = ? AND status = 'pending' AND substr(idx, 21, 3) IN ('os_', 'or_') ORDER BY idx`,
  );
  return {
    tip: async (walletId) => rows.tip(walletId),
    async updatedAfter(walletId, start, limit) {
      const payments: Payment[] = [];
      let [atMs, id]: [number, string] =
        start === null ? [0, ''] : [updatedAtOfIndex(start), idOfUpdatedIndex(start)];
      for (;;) {
        const wanted = limit - payments.length;
        const page = after.all(walletId, atMs, id, wanted);
        payments.push(...rows.payments(page));
        const last = page.at(-1);
        // Rows that do not fit are left out, and do not end the page.
        if (page.length < wanted || payments.length === limit || !last) return payments;
        [atMs, id] = [last.updated_at, idOfIndex(last.idx)];
      }
    },
    async get(walletId, index) {
      const row = rows.get(walletId, index);
      if (row) return row.payment;
      const to = rows.ledTo(walletId, index);
      return to === null ? null : (rows.get(walletId, to)?.payment ?? null);
    },
    latest: async (walletId, id) => rows.latest(walletId, id)?.payment ?? null,
    show: (walletId, index) =>
      queue.write(() => {
        const row = rows.get(walletId, index);
        return row?.isHidden ? rows.put(walletId, row, row.payment.createdAtMs) : null;
      }),
    open: async (walletId) => rows.payments(open.all(walletId)),
    openOnchain: async (walletId) => rows.payments(openOnchain.all(walletId)),
    setPersonalNote: (walletId, index, note, nowMs) =>
      queue.write(() => {
        const row = rows.get(walletId, index);
        if (!row) return null;
        const payment = { ...row.payment, personalNote: note };
        return rows.put(walletId, { ...row, payment }, nowMs);
      }),
  };
}
