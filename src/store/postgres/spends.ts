import type { SQL } from 'bun';
import { idOf } from '../../model/payment.ts';
import { asked, columnsOfSpend, known, type SpendColumns, spendOf } from '../columns/spend.ts';
import { isOvertaken } from '../overtaken.ts';
import type {
  BudgetReservation,
  BudgetRules,
  BudgetStanding,
  Spend,
  SpendStore,
} from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { BudgetRows } from './budgets.ts';
import type { Database } from './database.ts';
import { type FetchedInvoiceRows, readInvoice } from './fetched-invoices.ts';
import type { IdempotencyRows } from './idempotency.ts';
import type { Joint } from './joined-writes.ts';
import type { JournalRows } from './journal.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import type { SpendingRows } from './spending.ts';
import { together } from './together.ts';
import { watchRows } from './watches.ts';

/** Rows of the spend table, for ports that write them inside their own transactions. */
export interface SpendRows {
  get(sql: SQL, walletId: string, index: string): Promise<Spend | null>;
  /** The spends with these indexes. */
  ofIndexes(sql: SQL, walletId: string, indexes: readonly string[]): Promise<Spend[]>;
  /** Writes a new spend. Its fetched invoice is not written. */
  add(tx: SQL, spend: Omit<Spend, 'fetchedInvoice'>): Promise<void>;
  /** Writes a spend in the place of the one with its index, if that is still there. */
  put(tx: SQL, spend: Spend): Promise<void>;
  /** Moves the spend to `known`, with the node's attempt where it has one. */
  known(tx: SQL, walletId: string, index: string, attempt: number | null): Promise<void>;
  remove(tx: SQL, walletId: string, index: string): Promise<void>;
  /** Every spend of the wallet, oldest first. */
  all(sql: SQL, walletId: string): Promise<Spend[]>;
}

/** Returns the rows of the spend table. What is planned is sealed, since it may hold a preimage. */
export function spendRows(signed: SignedRows): SpendRows {
  const decode = (raws: readonly RawRow[]): Spend[] =>
    raws.flatMap((raw) => {
      const columns = signed.read<SpendColumns>(SIGNED.spend, raw);
      if (columns === null) return [];
      const { wallet, idx } = columns;
      const invoice = { wallet, idx, invoice: raw.invoice, mac: raw.invoice_mac };
      const fetched = raw.invoice === null ? null : readInvoice(signed, invoice);
      return [spendOf(columns, fetched)];
    });
  const ofIndexes: SpendRows['ofIndexes'] = async (sql, walletId, indexes) =>
    decode(
      await sql<RawRow[]>`
        SELECT s.*, f.invoice, f.mac AS invoice_mac FROM wallet_sidecar.spend s
        LEFT JOIN wallet_sidecar.fetched_invoice f ON f.wallet = s.wallet AND f.idx = s.idx
        WHERE s.wallet = ${walletId} AND s.idx = ANY(${sql.array([...indexes], 'text')}::text[])`,
    );
  const rows: SpendRows = {
    ofIndexes,
    get: async (sql, walletId, index) => (await ofIndexes(sql, walletId, [index]))[0] ?? null,
    async add(tx, spend) {
      const row = columnsOfSpend(spend);
      await tx`INSERT INTO wallet_sidecar.spend (wallet, idx, state, json, after_attempt, attempt, sealed_plan, caller,
          idempotency_key, mac)
        VALUES (${row.wallet}, ${row.idx}, ${row.state}, ${row.json}, ${row.after_attempt}, ${row.attempt},
          ${signed.seal(SIGNED.spend, { ...row }, 'plan')}, ${row.caller}, ${row.idempotency_key},
          ${signed.mac(SIGNED.spend, row)})`;
    },
    async put(tx, spend) {
      const row = columnsOfSpend(spend);
      await tx`UPDATE wallet_sidecar.spend SET state = ${row.state}, json = ${row.json}, attempt = ${row.attempt},
          sealed_plan = ${signed.seal(SIGNED.spend, { ...row }, 'plan')}, mac = ${signed.mac(SIGNED.spend, row)}
        WHERE wallet = ${row.wallet} AND idx = ${row.idx}`;
    },
    async known(tx, walletId, index, attempt) {
      const spend = await rows.get(tx, walletId, index);
      const shown = spend && known(spend, attempt);
      if (shown) await rows.put(tx, shown);
    },
    async remove(tx, walletId, index) {
      await tx`DELETE FROM wallet_sidecar.spend WHERE wallet = ${walletId} AND idx = ${index}`;
    },
    all: async (sql, walletId) =>
      decode(
        await sql<RawRow[]>`
          SELECT s.*, f.invoice, f.mac AS invoice_mac FROM wallet_sidecar.spend s
          LEFT JOIN wallet_sidecar.fetched_invoice f ON f.wallet = s.wallet AND f.idx = s.idx
          WHERE s.wallet = ${walletId} ORDER BY s.idx`,
      ),
  };
  return rows;
}

/** The tables that a spend's transactions touch. */
interface SpendParts {
  readonly spends: SpendRows;
  readonly fetched: FetchedInvoiceRows;
  readonly journal: JournalRows;
  readonly budgets: BudgetRows;
  readonly spending: SpendingRows;
  readonly keys: IdempotencyRows;
}

/** Returns the {@link SpendStore} over PostgreSQL. */
export function postgresSpends(db: Database, parts: SpendParts): SpendStore {
  const { spends, fetched, journal, budgets, spending, keys } = parts;
  const standingOf = (
    tx: SQL,
    walletId: string,
    { clientPk, nowMs }: BudgetReservation,
    { periodStart }: BudgetRules,
  ) => budgets.standing(tx, walletId, clientPk, nowMs, periodStart);

  async function reserve(
    { tx, joint }: { readonly tx: SQL; readonly joint: Joint },
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    { budgetState, periodStart }: BudgetStanding & Pick<BudgetRules, 'periodStart'>,
  ): Promise<void> {
    if (budgetState !== 'none') joint.advanceCounter();
    await spending.reserve(tx, walletId, name, reservation, periodStart);
  }

  /** Writes what belongs to an asked spend. It is journaled unless the node keeps the history. */
  async function bind(
    tx: SQL,
    walletId: string,
    { payment, afterAttempt, caller, idempotencyKey: key }: Omit<Spend, 'walletId' | 'attempt'>,
    journaled: boolean,
  ): Promise<void> {
    await together([
      journaled && journal.putHidden(tx, walletId, { payment, attempt: null, afterAttempt }),
      key !== null && keys.bind(tx, { walletId, caller, key }, payment.index),
    ]);
  }

  return {
    begin: (walletId, spend, rules) =>
      db.write(walletId, async (tx, joint) => {
        const { payment, state, reservation, journaled } = spend;
        const { index } = payment;
        const [latest, taken, standing] = await together([
          journaled ? journal.latest(tx, walletId, idOf(payment)) : null,
          journaled ? journal.get(tx, walletId, index) : null,
          reservation && standingOf(tx, walletId, reservation, rules),
        ]);
        if (journaled && isOvertaken(spend.previous, latest?.payment ?? null)) return false;
        if (taken) {
          // The new row would replace another payment.
          throw new Error(`The payment ${index} exists already.`);
        }
        if (reservation && standing) {
          rules.requireWithinBudget(standing, reservation.amountMsat);
        }
        await together([
          reservation &&
            standing &&
            reserve({ tx, joint }, walletId, index, reservation, { ...rules, ...standing }),
          spends.add(tx, { ...spend, walletId, attempt: null }),
          spend.fetchedInvoice !== null && fetched.add(tx, walletId, index, spend.fetchedInvoice),
          watchRows.add(tx, walletId, { kind: 'payment', index }),
          state === 'asked' && bind(tx, walletId, spend, journaled),
        ]);
        return true;
      }),
    asked: (walletId, index, { plan, journaled }) =>
      db.write(walletId, async (tx) => {
        const spend = await spends.get(tx, walletId, index);
        if (spend === null) {
          // Without the row, no part of the program would find out what became of the payment.
          throw new Error(
            `The spend ${index} is not stored, so the node must not be asked to send it.`,
          );
        }
        await spends.put(tx, asked(spend, plan));
        if (spend.state !== 'begun') return;
        await bind(tx, walletId, spend, journaled);
      }),
    abandon: (walletId, index, periodStart) =>
      db.write(walletId, async (tx) => {
        const spend = await spends.get(tx, walletId, index);
        // The node has shown a known spend, so it was sent.
        if (!spend || spend.state === 'known') return;
        const { caller, idempotencyKey: key } = spend;
        await together([
          spends.remove(tx, walletId, index),
          fetched.remove(tx, walletId, index),
          watchRows.endPayment(tx, walletId, index),
          journal.remove(tx, walletId, index),
          spending.release(tx, walletId, index, periodStart),
          key !== null && keys.unbind(tx, { walletId, caller, key }, index),
        ]);
      }),
    get: (walletId, index) => db.read((sql) => spends.get(sql, walletId, index)),
    fetchedInvoice: (walletId, index) => db.read((sql) => fetched.get(sql, walletId, index)),
    // A failed payment has no caller here: its reservation was given back, and any caller may send it again.
    callerOf: (walletId, index) =>
      db.read(async (sql) => {
        const caller = (await spends.get(sql, walletId, index))?.caller ?? 'owner';
        return caller === 'owner' ? spending.clientOf(sql, walletId, index) : caller;
      }),
    unfinished: (walletId) => db.read((sql) => spends.all(sql, walletId)),
    async wallets() {
      const rows = await db.read(
        (sql) => sql<{ wallet: string }[]>`SELECT DISTINCT wallet FROM wallet_sidecar.spend`,
      );
      return rows.map(({ wallet }) => wallet);
    },
    reserve: (walletId, name, reservation, rules) =>
      db.write(walletId, async (tx, joint) => {
        // A repeat after the cost was settled costs nothing more. A repeat after a crash replaces its own reservation.
        if (await spending.isSettled(tx, walletId, name)) return;
        await spending.release(tx, walletId, name, rules.periodStart);
        const standing = await standingOf(tx, walletId, reservation, rules);
        rules.requireWithinBudget(standing, reservation.amountMsat);
        await reserve({ tx, joint }, walletId, name, reservation, { ...rules, ...standing });
      }),
    settle: (walletId, ...cost) =>
      db.write(walletId, (tx) => spending.close(tx, walletId, ...cost)),
  };
}
