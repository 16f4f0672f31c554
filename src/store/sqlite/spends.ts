import type { Database } from 'bun:sqlite';
import { idOf } from '../../model/payment.ts';
import { asked, columnsOfSpend, known, type SpendColumns, spendOf } from '../columns/spend.ts';
import { isOvertaken } from '../overtaken.ts';
import type { BudgetReservation, BudgetRules, Spend, SpendStore } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import type { BudgetRows } from './budgets.ts';
import type { FetchedInvoiceRows } from './fetched-invoices.ts';
import type { IdempotencyRows } from './idempotency.ts';
import type { StoreCounter } from './identity.ts';
import type { JournalRows } from './journal.ts';
import { columnList, rowWriter, type Stored } from './signed-table.ts';
import type { SpendingRows } from './spending.ts';
import type { WatchRows } from './watches.ts';
import type { WriteQueue } from './write-queue.ts';

/** Rows of the spend table, for ports that write them inside their own transactions. */
export interface SpendRows {
  get(walletId: string, index: string): Spend | null;
  /** Every spend of the wallet, oldest first. */
  list(walletId: string): Spend[];
  /** Writes a new spend. Throws where there is one with its index. Its fetched invoice is not written. */
  add(spend: Spend): void;
  /** Writes a spend in the place of the one with its index. */
  put(spend: Spend): void;
  /** Moves the spend to `known`, with the node's attempt where it has one. */
  known(walletId: string, index: string, attempt: number | null): void;
  remove(walletId: string, index: string): void;
}

type Row = Stored<SpendColumns>;

const COLUMNS = columnList(SIGNED.spend);

/** Prepares the statements of the spend table. A row that does not fit is not there. */
export function spendRows(db: Database, signer: RowSigner, fetched: FetchedInvoiceRows): SpendRows {
  const read = db.prepare<Row, [string, string]>(
    `SELECT ${COLUMNS} FROM spend WHERE wallet = ? AND idx = ?`,
  );
  const list = db.prepare<Row, [string]>(
    `SELECT ${COLUMNS} FROM spend WHERE wallet = ? ORDER BY idx`,
  );
  const insert = rowWriter(db, signer, SIGNED.spend);
  const update = db.prepare(
    'UPDATE spend SET state = ?, json = ?, attempt = ?, plan = ?, mac = ? WHERE wallet = ? AND idx = ?',
  );
  const remove = db.prepare('DELETE FROM spend WHERE wallet = ? AND idx = ?');
  const fits = (row: Row) => signer.fits(SIGNED.spend, row);
  const decoded = (row: Row) => spendOf(row, fetched.get(row.wallet, row.idx));
  const rows: SpendRows = {
    get(walletId, index) {
      const row = read.get(walletId, index);
      return row && fits(row) ? decoded(row) : null;
    },
    list: (walletId) => list.all(walletId).filter(fits).map(decoded),
    add: (spend) => void insert(columnsOfSpend(spend)),
    put(spend) {
      const row = columnsOfSpend(spend);
      const mac = signer.mac(SIGNED.spend, row);
      update.run(row.state, row.json, row.attempt, row.plan, mac, row.wallet, row.idx);
    },
    known(walletId, index, attempt) {
      const spend = rows.get(walletId, index);
      const shown = spend && known(spend, attempt);
      if (shown) rows.put(shown);
    },
    remove: (walletId, index) => void remove.run(walletId, index),
  };
  return rows;
}

/** The tables that a spend's transactions touch. */
interface SpendParts {
  readonly spends: SpendRows;
  readonly fetched: FetchedInvoiceRows;
  readonly journal: JournalRows;
  readonly watches: WatchRows;
  readonly budgets: BudgetRows;
  readonly spending: SpendingRows;
  readonly keys: IdempotencyRows;
  readonly counter: StoreCounter;
}

/** Returns the {@link SpendStore} over SQLite. */
export function sqliteSpends(db: Database, queue: WriteQueue, parts: SpendParts): SpendStore {
  const { spends, fetched, journal, watches, budgets, spending, keys, counter } = parts;
  const wallets = db.prepare<{ wallet: string }, []>('SELECT DISTINCT wallet FROM spend');

  function reserve(
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    { periodStart, requireWithinBudget }: BudgetRules,
  ): void {
    const { clientPk, amountMsat, nowMs } = reservation;
    const standing = budgets.standing(walletId, clientPk, nowMs, periodStart);
    requireWithinBudget(standing, amountMsat);
    spending.reserve(walletId, name, reservation, periodStart);
    if (standing.budgetState !== 'none') counter.advance();
  }

  function bind(
    walletId: string,
    { payment, afterAttempt, caller, idempotencyKey: key }: Omit<Spend, 'walletId' | 'attempt'>,
    journaled: boolean,
  ): void {
    if (journaled) journal.putHidden(walletId, { payment, attempt: null, afterAttempt });
    if (key !== null) keys.bind({ walletId, caller, key }, payment.index);
  }

  return {
    begin: (walletId, spend, rules) =>
      queue.write(() => {
        const { payment, state, reservation } = spend;
        const { index } = payment;
        if (spend.journaled) {
          const latest = journal.latest(walletId, idOf(payment))?.payment ?? null;
          if (isOvertaken(spend.previous, latest)) return false;
          if (journal.get(walletId, index)) {
            // The new row would replace another payment.
            throw new Error(`The payment ${index} exists already.`);
          }
        }
        if (reservation) reserve(walletId, index, reservation, rules);
        spends.add({ ...spend, walletId, attempt: null });
        if (spend.fetchedInvoice !== null) fetched.add(walletId, index, spend.fetchedInvoice);
        watches.add(walletId, { kind: 'payment', index });
        if (state === 'asked') bind(walletId, spend, spend.journaled);
        return true;
      }),
    asked: (walletId, index, { plan, journaled }) =>
      queue.write(() => {
        const spend = spends.get(walletId, index);
        if (spend === null) {
          // Without the row, no part of the program would find out what became of the payment.
          throw new Error(
            `The spend ${index} is not stored, so the node must not be asked to send it.`,
          );
        }
        spends.put(asked(spend, plan));
        if (spend.state === 'begun') bind(walletId, spend, journaled);
      }),
    abandon: (walletId, index, periodStart) =>
      queue.write(() => {
        const spend = spends.get(walletId, index);
        // The node has shown a known spend, so it was sent.
        if (!spend || spend.state === 'known') return;
        spends.remove(walletId, index);
        fetched.remove(walletId, index);
        watches.endPayment(walletId, index);
        journal.remove(walletId, index);
        spending.release(walletId, index, periodStart);
        const { caller, idempotencyKey: key } = spend;
        if (key !== null) keys.unbind({ walletId, caller, key }, index);
      }),
    get: async (walletId, index) => spends.get(walletId, index),
    fetchedInvoice: async (walletId, index) => fetched.get(walletId, index),
    // A failed payment has no caller here: its reservation was given back, and any caller may send it again.
    async callerOf(walletId, index) {
      const caller = spends.get(walletId, index)?.caller ?? 'owner';
      return caller === 'owner' ? spending.clientOf(walletId, index) : caller;
    },
    unfinished: async (walletId) => spends.list(walletId),
    wallets: async () => wallets.all().map(({ wallet }) => wallet),
    reserve: (walletId, name, reservation, rules) =>
      queue.write(() => {
        // A repeat after the cost was settled costs nothing more. A repeat after a crash replaces its own reservation.
        if (spending.isSettled(walletId, name)) return;
        spending.release(walletId, name, rules.periodStart);
        reserve(walletId, name, reservation, rules);
      }),
    settle: (...cost) => queue.write(() => spending.close(...cost)),
  };
}
