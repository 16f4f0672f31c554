import { isLow } from '../../model/clients/budget.ts';
import { OWNER_CALLER } from '../../model/clients/client.ts';
import { idOf } from '../../model/payment.ts';
import {
  approved,
  approvedPayment,
  asked,
  columnsOfSpend,
  known,
  type SpendColumns,
  spendOf,
} from '../columns/spend.ts';
import { isOvertaken } from '../overtaken.ts';
import type {
  BudgetReservation,
  BudgetRules,
  BudgetStanding,
  NewSpend,
  Spend,
  SpendStore,
} from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { BudgetRows } from './budgets.ts';
import type { MakerRows } from './callers/makers.ts';
import type { ClientRows } from './client-rows.ts';
import type { DeliveryWriter } from './deliveries.ts';
import type { FetchedInvoiceColumns, FetchedInvoiceRows } from './fetched-invoices.ts';
import type { IdempotencyRows } from './idempotency.ts';
import { type JournalRows, latestOf } from './journal.ts';
import type { RefundRows } from './payments/refunds.ts';
import type { Joint, RowDatabase, Rows } from './rows.ts';
import type { SpendingRows } from './spending.ts';
import { type Steps, together } from './steps.ts';
import { type Stored, tableOf } from './table.ts';
import type { WatchRows } from './watches.ts';
import type { WebhookEndpointRows } from './webhook-endpoints.ts';

/** Rows of the spend table, for ports that write them inside their own transactions. */
export interface SpendRows {
  get(walletId: string, index: string): Steps<Spend | null>;
  /** Every spend of the wallet, oldest first. */
  list(walletId: string): Steps<Spend[]>;
  /** Writes a new spend. Throws where there is one with its index. Its fetched invoice is not written. */
  add(spend: Spend): Steps<unknown>;
  /** Writes a spend in the place of the one with its index, if that is still there. */
  put(spend: Spend): Steps<unknown>;
  /** Moves the spend that is read to `known`, with the node's attempt where it has one. */
  known(found: Steps<Spend | null>, attempt: number | null): Steps<void>;
  remove(walletId: string, index: string): Steps<unknown>;
}

interface Invoice {
  readonly invoice: string | null;
  readonly invoice_mac: string | null;
}

/**
 * Prepares a selection of spends, each with the invoice that was fetched for it. What follows the name of the table is
 * given. A row that does not fit, or whose payment cannot be read (docs/decisions.md 179), is not there, and is told.
 */
export function selectSpends(rows: Rows, rest: string) {
  const invoices = tableOf<FetchedInvoiceColumns>(rows, SIGNED.fetchedInvoice);
  const fetched =
    'FROM wallet_sidecar.fetched_invoice f WHERE f.wallet = spend.wallet AND f.idx = spend.idx';
  return tableOf<SpendColumns>(rows, SIGNED.spend).select(rest, {
    others: [
      `(SELECT f.invoice ${fetched}) AS invoice`,
      `(SELECT f.mac ${fetched}) AS invoice_mac`,
    ],
    of(row: Stored<SpendColumns> & Invoice) {
      const { wallet, idx, invoice, invoice_mac: mac } = row;
      const fits = invoice === null ? null : invoices.read({ wallet, idx, invoice, mac });
      const spend = spendOf(row, fits && invoice);
      if (spend === null) rows.signer.tell({ table: SIGNED.spend.table, id: `${wallet} ${idx}` });
      return spend;
    },
  });
}

/** Prepares the statements of the spend table. What is planned is sealed, since it may hold a preimage. */
export function spendRows(rows: Rows): SpendRows {
  const table = tableOf<SpendColumns>(rows, SIGNED.spend);
  const read = selectSpends(rows, 'WHERE wallet = ? AND idx = ?');
  const insert = table.insert();
  const update = table.update(['state', 'json', 'after_attempt', 'attempt', 'plan']);
  const spends: SpendRows = {
    get: read.one,
    list: selectSpends(rows, 'WHERE wallet = ? ORDER BY idx').all,
    add: (spend) => insert(columnsOfSpend(spend)),
    put: (spend) => update(columnsOfSpend(spend)),
    *known(found, attempt) {
      const spend = yield* found;
      const shown = spend && known(spend, attempt);
      if (shown) yield* spends.put(shown);
    },
    remove: table.remove(),
  };
  return spends;
}

/** The tables that a spend's transactions touch. */
export interface SpendParts {
  readonly spends: SpendRows;
  readonly fetched: FetchedInvoiceRows;
  readonly journal: JournalRows;
  readonly watches: WatchRows;
  readonly budgets: BudgetRows;
  readonly spending: SpendingRows;
  readonly refunds: RefundRows;
  readonly keys: IdempotencyRows;
  readonly clients: ClientRows;
  readonly made: MakerRows;
  readonly endpoints: WebhookEndpointRows;
  readonly putDeliveries: DeliveryWriter;
}

/** Returns the {@link SpendStore}. */
export function spendStore(db: RowDatabase, { prepare }: Rows, parts: SpendParts): SpendStore {
  const { spends, fetched, journal, watches, budgets, spending, refunds, keys } = parts;
  const { clients, made, endpoints, putDeliveries } = parts;
  const wallets = prepare<{ wallet: string }>('SELECT DISTINCT wallet FROM wallet_sidecar.spend');

  /** Reserves an amount, and tells of a budget that is low then. Returns how many deliveries were written. */
  function* reserve(
    { advanceCounter }: Joint,
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    standing: BudgetStanding,
    { periodStart, low }: BudgetRules,
  ): Steps<number> {
    const { clientPk, amountMsat, nowMs } = reservation;
    const { budget } = standing;
    if (standing.budgetState !== 'none') advanceCounter();
    yield* spending.reserve(walletId, name, reservation, budget && periodStart);
    const spentMsat = standing.spentMsat + amountMsat;
    if (!low || budget === null || !isLow(budget, spentMsat)) return 0;
    const client = yield* clients.find(clientPk);
    const hears = yield* endpoints.list(walletId);
    const draft = client && low.deliver(client, { ...standing, spentMsat }, nowMs, hears);
    return draft ? yield* putDeliveries(walletId, clientPk, draft) : 0;
  }

  /** Writes what belongs to an asked spend. It is journaled unless the node keeps the history. */
  function* bind(
    walletId: string,
    { payment, afterAttempt, caller, idempotencyKey: key }: Omit<Spend, 'walletId' | 'attempt'>,
    journaled: boolean,
  ): Steps<void> {
    yield* together([
      journaled && journal.putHidden(walletId, { payment, attempt: null, afterAttempt }),
      key !== null && keys.bind({ walletId, caller, key }, payment.index),
    ]);
  }

  /** Writes what belongs to a spend that waits for approval, and tells of it. */
  function* wait(walletId: string, spend: NewSpend): Steps<void> {
    const { payment, afterAttempt, journaled, caller, idempotencyKey: key, deliver } = spend;
    if (key !== null) yield* keys.bind({ walletId, caller, key }, payment.index);
    const writer = journaled && (yield* journal.writer(walletId));
    const row = { payment, attempt: null, afterAttempt };
    const shown = writer ? writer.put(row, payment.createdAtMs) : { payment, stored: null };
    if (shown.stored) yield* shown.stored;
    const draft = deliver?.(shown.payment, walletId, yield* endpoints.list(walletId));
    if (draft) yield* putDeliveries(walletId, shown.payment.index, draft);
  }

  return {
    async begin(walletId, spend, rules) {
      const told = await db.write(walletId, function* (joint) {
        const { payment, state, reservation, journaled, fetchedInvoice } = spend;
        const { index } = payment;
        const [earlier, standing] = yield* together([
          journaled && journal.ofId(walletId, idOf(payment)),
          reservation &&
            budgets.standing(walletId, reservation.clientPk, reservation.nowMs, rules.periodStart),
        ]);
        if (earlier) {
          if (isOvertaken(spend.previous, latestOf(earlier))) return null;
          // The new row would replace another payment.
          const isTaken = earlier.some(({ idx }) => idx === index);
          if (isTaken) throw new Error(`The payment ${index} exists already.`);
        }
        if (reservation && standing) rules.requireWithinBudget(standing, reservation.amountMsat);
        yield* refunds.reserve(walletId, payment, spend.requireLeft);
        const [deliveries] = yield* together([
          reservation && standing && reserve(joint, walletId, index, reservation, standing, rules),
          spends.add({ ...spend, walletId, attempt: null }),
          fetchedInvoice !== null && fetched.add(walletId, index, fetchedInvoice),
          watches.add(walletId, { kind: 'payment', index }),
          spend.caller !== OWNER_CALLER && made.put(walletId, index, spend.caller),
          state === 'asked' && bind(walletId, spend, journaled),
          state === 'awaiting' && wait(walletId, spend),
        ]);
        return deliveries || 0;
      });
      if (told) rules.low?.onDelivery();
      return told !== null;
    },
    asked: (walletId, index, { plan, journaled }) =>
      db.write(walletId, function* () {
        const spend = yield* spends.get(walletId, index);
        if (spend === null) {
          // Without the row, no part of the program would find out what became of the payment.
          throw new Error(
            `The spend ${index} is not stored, so the node must not be asked to send it.`,
          );
        }
        yield* spends.put(asked(spend, plan));
        if (spend.state === 'begun') yield* bind(walletId, spend, journaled);
      }),
    approve: (walletId, index, { plan, afterAttempt, journaled, nowMs }, mayPay) =>
      db.write(walletId, function* () {
        const spend = yield* spends.get(walletId, index);
        if (spend?.state !== 'awaiting' || nowMs >= (spend.approveUntilMs ?? 0)) return false;
        const client = yield* clients.find(spend.caller);
        if (!mayPay(client?.walletId === walletId ? client : null)) return false;
        yield* spends.put(approved(spend, { plan, afterAttempt }));
        const row = journaled ? yield* journal.get(walletId, index) : null;
        if (row === null) return true;
        const writer = yield* journal.writer(walletId);
        const next = { ...row, payment: approvedPayment(row.payment), afterAttempt };
        yield* writer.put(next, nowMs).stored;
        return true;
      }),
    abandon: (walletId, index, periodStart) =>
      db.write(walletId, function* () {
        const spend = yield* spends.get(walletId, index);
        // The node has shown a known spend, so it was sent.
        if (!spend || spend.state === 'known') return;
        const { caller, idempotencyKey: key } = spend;
        yield* together([
          spends.remove(walletId, index),
          fetched.remove(walletId, index),
          watches.endPayment(walletId, index, false),
          journal.remove(walletId, index),
          spending.release(walletId, index, periodStart),
          refunds.settle(walletId, { ...spend.payment, status: 'failed' }),
          made.remove(walletId, index),
          key !== null && keys.unbind({ walletId, caller, key }, index),
        ]);
      }),
    get: (walletId, index) => db.read(() => spends.get(walletId, index)),
    fetchedInvoice: (walletId, index) => db.read(() => fetched.get(walletId, index)),
    // A failed payment has no caller here: its reservation was given back, and any caller may send it again.
    callerOf: (walletId, index) =>
      db.read(function* () {
        const caller = (yield* spends.get(walletId, index))?.caller ?? OWNER_CALLER;
        return caller === OWNER_CALLER ? yield* spending.clientOf(walletId, index) : caller;
      }),
    unfinished: (walletId) => db.read(() => spends.list(walletId)),
    refunded: (walletId, received) => db.read(() => refunds.of(walletId, received)),
    wallets: async () => (await db.read(() => wallets.all())).map(({ wallet }) => wallet),
    async reserve(walletId, name, reservation, rules) {
      const told = await db.write(walletId, function* (joint) {
        const { clientPk, amountMsat, nowMs } = reservation;
        const { periodStart, requireWithinBudget } = rules;
        // A repeat after the cost was settled costs nothing more. A repeat after a crash replaces its own reservation.
        if (yield* spending.isSettled(walletId, name)) return 0;
        yield* spending.release(walletId, name, periodStart);
        const standing = yield* budgets.standing(walletId, clientPk, nowMs, periodStart);
        requireWithinBudget(standing, amountMsat);
        return yield* reserve(joint, walletId, name, reservation, standing, rules);
      });
      if (told > 0) rules.low?.onDelivery();
    },
    settle: (walletId, ...cost) => db.write(walletId, () => spending.close(walletId, ...cost)),
  };
}
