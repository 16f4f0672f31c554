import type { Database } from 'bun:sqlite';
import { decodePayment, encodePayment, idOf } from '../../model/payment.ts';
import { isOvertaken } from '../overtaken.ts';
import type { BudgetReservation, BudgetRules, Spend, SpendState, SpendStore } from '../ports.ts';
import type { BudgetRows } from './budgets.ts';
import type { FetchedInvoiceRows } from './fetched-invoices.ts';
import type { IdempotencyRows } from './idempotency.ts';
import type { StoreCounter } from './identity.ts';
import type { JournalRows } from './journal.ts';
import type { SpendingRows } from './spending.ts';
import type { WatchRows } from './watches.ts';
import type { WriteQueue } from './write-queue.ts';

/** Rows of the spend table, for ports that write them inside their own transactions. */
export interface SpendRows {
  get(walletId: string, index: string): Spend | null;
  /** Moves the spend to `known`, with the node's attempt where it has one. */
  known(walletId: string, index: string, attempt: number | null): void;
  remove(walletId: string, index: string): void;
}

interface Row {
  readonly state: string;
  readonly json: string;
  readonly after_attempt: number | null;
  readonly attempt: number | null;
  readonly plan: string | null;
  readonly invoice: string | null;
  readonly caller: string;
  readonly idempotency_key: string | null;
}

const COLUMNS = 'state, json, after_attempt, attempt, plan, caller, idempotency_key';
const READ = `SELECT ${COLUMNS}, (SELECT f.invoice FROM fetched_invoice f
    WHERE f.wallet = spend.wallet AND f.idx = spend.idx) AS invoice
  FROM spend`;

/** Prepares the statements of the spend table. */
export function spendRows(db: Database): SpendRows {
  const read = db.prepare<Row, [string, string]>(`${READ} WHERE wallet = ? AND idx = ?`);
  const known = db.prepare(
    "UPDATE spend SET state = 'known', attempt = coalesce(attempt, ?) WHERE wallet = ? AND idx = ?",
  );
  const remove = db.prepare('DELETE FROM spend WHERE wallet = ? AND idx = ?');
  const get = (walletId: string, index: string) => {
    const row = read.get(walletId, index);
    return row && decode(walletId, row);
  };
  return {
    get,
    known: (walletId, index, attempt) => void known.run(attempt, walletId, index),
    remove: (walletId, index) => void remove.run(walletId, index),
  };
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
  const insert = db.prepare(
    `INSERT INTO spend (wallet, idx, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?)`,
  );
  const ask = db.prepare(
    `UPDATE spend SET state = iif(state = 'begun', 'asked', state), plan = coalesce(?, plan)
     WHERE wallet = ? AND idx = ?`,
  );
  // A failed payment has no caller here: its reservation was given back, and any caller may send it again.
  const caller = db.prepare<{ caller: string }, [string, string]>(
    `SELECT caller FROM spend WHERE wallet = ?1 AND idx = ?2 AND caller != 'owner'
     UNION ALL SELECT client_pk FROM spending WHERE wallet = ?1 AND idx = ?2 LIMIT 1`,
  );
  const unfinished = db.prepare<Row, [string]>(`${READ} WHERE wallet = ? ORDER BY idx`);
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
        const { payment, state, afterAttempt, plan, caller, idempotencyKey, reservation } = spend;
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
        const json = JSON.stringify(encodePayment(payment));
        insert.run(walletId, index, state, json, afterAttempt, plan, caller, idempotencyKey);
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
        ask.run(plan, walletId, index);
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
    callerOf: async (walletId, index) => caller.get(walletId, index)?.caller ?? null,
    unfinished: async (walletId) => unfinished.all(walletId).map((row) => decode(walletId, row)),
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

function decode(walletId: string, row: Row): Spend {
  return {
    walletId,
    payment: decodePayment(JSON.parse(row.json)),
    state: row.state as SpendState,
    afterAttempt: row.after_attempt,
    attempt: row.attempt,
    plan: row.plan,
    fetchedInvoice: row.invoice,
    caller: row.caller,
    idempotencyKey: row.idempotency_key,
  };
}
