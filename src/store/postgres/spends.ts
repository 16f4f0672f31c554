import type { SQL } from 'bun';
import type { Sealer } from '../../lib/seal.ts';
import { decodePayment, encodePayment } from '../../model/payment.ts';
import type { BudgetReservation, BudgetRules, Spend, SpendState, SpendStore } from '../ports.ts';
import { budgetRows } from './budgets.ts';
import type { Database } from './database.ts';
import { fetchedInvoiceRows } from './fetched-invoices.ts';
import { idempotencyRows } from './idempotency.ts';
import { advanceCounter } from './identity.ts';
import { journalRows } from './journal.ts';
import { spendingRows } from './spending.ts';
import { numberOrNull } from './values.ts';
import { watchRows } from './watches.ts';

interface Row {
  readonly idx: string;
  readonly state: SpendState;
  readonly json: string;
  readonly after_attempt: bigint | null;
  readonly attempt: bigint | null;
  readonly sealed_plan: string | null;
  readonly invoice: string | null;
  readonly caller: string;
  readonly idempotency_key: string | null;
}

const place = (walletId: string, index: string) => ({
  table: 'spend',
  column: 'sealed_plan',
  row: [walletId, index],
});

/** Rows of the spend table, for ports that write them inside their own transactions. */
export interface SpendRows {
  get(sql: SQL, walletId: string, index: string): Promise<Spend | null>;
  /** Moves the spend to `known`, with the node's attempt where it has one. */
  known(tx: SQL, walletId: string, index: string, attempt: number | null): Promise<void>;
  remove(tx: SQL, walletId: string, index: string): Promise<void>;
  /** Every spend of the wallet, oldest first. */
  all(sql: SQL, walletId: string): Promise<Spend[]>;
}

/** Returns the rows of the spend table. What is planned is sealed, since it may hold a preimage. */
export function spendRows(sealer: Sealer): SpendRows {
  const decode = (walletId: string, row: Row): Spend => ({
    walletId,
    payment: decodePayment(JSON.parse(row.json)),
    state: row.state,
    afterAttempt: numberOrNull(row.after_attempt),
    attempt: numberOrNull(row.attempt),
    plan: row.sealed_plan && sealer.open(row.sealed_plan, place(walletId, row.idx)),
    fetchedInvoice: row.invoice,
    caller: row.caller,
    idempotencyKey: row.idempotency_key,
  });
  return {
    async get(sql, walletId, index) {
      const [row] = await sql<Row[]>`
        SELECT s.*, f.invoice FROM spend s LEFT JOIN fetched_invoice f ON f.wallet = s.wallet AND f.idx = s.idx
        WHERE s.wallet = ${walletId} AND s.idx = ${index}`;
      return row ? decode(walletId, row) : null;
    },
    async known(tx, walletId, index, attempt) {
      await tx`UPDATE spend SET state = 'known', attempt = coalesce(attempt, ${attempt})
        WHERE wallet = ${walletId} AND idx = ${index}`;
    },
    async remove(tx, walletId, index) {
      await tx`DELETE FROM spend WHERE wallet = ${walletId} AND idx = ${index}`;
    },
    async all(sql, walletId) {
      const rows = await sql<Row[]>`
        SELECT s.*, f.invoice FROM spend s LEFT JOIN fetched_invoice f ON f.wallet = s.wallet AND f.idx = s.idx
        WHERE s.wallet = ${walletId} ORDER BY s.idx`;
      return rows.map((row) => decode(walletId, row));
    },
  };
}

async function reserve(
  tx: SQL,
  walletId: string,
  name: string,
  reservation: BudgetReservation,
  { periodStart, requireWithinBudget }: BudgetRules,
): Promise<void> {
  const { clientPk, amountMsat, nowMs } = reservation;
  const standing = await budgetRows.standing(tx, walletId, clientPk, nowMs, periodStart);
  requireWithinBudget(standing, amountMsat);
  await spendingRows.reserve(tx, walletId, name, reservation, periodStart);
  if (standing.budgetState !== 'none') await advanceCounter(tx);
}

/** Returns the {@link SpendStore} over PostgreSQL. */
export function postgresSpends(db: Database, sealer: Sealer, spends: SpendRows): SpendStore {
  const sealed = (walletId: string, index: string, plan: string | null) =>
    plan && sealer.seal(plan, place(walletId, index));
  return {
    begin: (walletId, spend, rules) =>
      db.write(walletId, async (tx) => {
        const { payment, state, afterAttempt, plan, caller, idempotencyKey, reservation } = spend;
        const { index } = payment;
        if (spend.journaled && (await journalRows.get(tx, walletId, index))) {
          // The new row would replace another payment.
          throw new Error(`The payment ${index} exists already.`);
        }
        if (reservation) await reserve(tx, walletId, index, reservation, rules);
        const json = JSON.stringify(encodePayment(payment));
        await tx`INSERT INTO spend (wallet, idx, state, json, after_attempt, sealed_plan, caller, idempotency_key)
          VALUES (${walletId}, ${index}, ${state}, ${json}, ${afterAttempt}, ${sealed(walletId, index, plan)},
            ${caller}, ${idempotencyKey})`;
        if (spend.fetchedInvoice !== null) {
          await fetchedInvoiceRows.add(tx, walletId, index, spend.fetchedInvoice);
        }
        await watchRows.add(tx, walletId, { kind: 'payment', index });
        if (spend.journaled) {
          const row = { payment, attempt: null, afterAttempt };
          await journalRows.put(tx, walletId, row, payment.createdAtMs);
        }
        if (idempotencyKey !== null) {
          await idempotencyRows.bind(tx, { walletId, caller, key: idempotencyKey }, index);
        }
      }),
    asked: (walletId, index, plan) =>
      db.write(walletId, async (tx) => {
        const { count } = await tx`
          UPDATE spend SET state = CASE WHEN state = 'begun' THEN 'asked' ELSE state END,
            sealed_plan = coalesce(${sealed(walletId, index, plan)}, sealed_plan)
          WHERE wallet = ${walletId} AND idx = ${index}`;
        if (count === 0) {
          // Without the row, no part of the program would find out what became of the payment.
          throw new Error(
            `The spend ${index} is not stored, so the node must not be asked to send it.`,
          );
        }
      }),
    abandon: (walletId, index, periodStart) =>
      db.write(walletId, async (tx) => {
        const spend = await spends.get(tx, walletId, index);
        // The node has shown a known spend, so it was sent.
        if (!spend || spend.state === 'known') return;
        await spends.remove(tx, walletId, index);
        await fetchedInvoiceRows.remove(tx, walletId, index);
        await watchRows.endPayment(tx, walletId, index);
        await journalRows.remove(tx, walletId, index);
        await spendingRows.release(tx, walletId, index, periodStart);
        const { caller, idempotencyKey: key } = spend;
        if (key !== null) await idempotencyRows.unbind(tx, { walletId, caller, key }, index);
      }),
    get: (walletId, index) => db.read((sql) => spends.get(sql, walletId, index)),
    fetchedInvoice: (walletId, index) =>
      db.read((sql) => fetchedInvoiceRows.get(sql, walletId, index)),
    async callerOf(walletId, index) {
      // A failed payment has no caller here: its reservation was given back, and any caller may send it again.
      const [row] = await db.read(
        (sql) => sql<{ caller: string }[]>`
          SELECT caller FROM spend WHERE wallet = ${walletId} AND idx = ${index} AND caller <> 'owner'
          UNION ALL SELECT client_pk FROM spending WHERE wallet = ${walletId} AND name = ${index} LIMIT 1`,
      );
      return row?.caller ?? null;
    },
    unfinished: (walletId) => db.read((sql) => spends.all(sql, walletId)),
    async wallets() {
      const rows = await db.read(
        (sql) => sql<{ wallet: string }[]>`SELECT DISTINCT wallet FROM spend`,
      );
      return rows.map(({ wallet }) => wallet);
    },
    reserve: (walletId, name, reservation, rules) =>
      db.write(walletId, async (tx) => {
        // A repeat after the cost was settled costs nothing more. A repeat after a crash replaces its own reservation.
        if (await spendingRows.isSettled(tx, walletId, name)) return;
        await spendingRows.release(tx, walletId, name, rules.periodStart);
        await reserve(tx, walletId, name, reservation, rules);
      }),
    settle: (walletId, ...cost) =>
      db.write(walletId, (tx) => spendingRows.close(tx, walletId, ...cost)),
  };
}
