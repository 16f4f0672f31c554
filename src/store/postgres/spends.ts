import type { SQL } from 'bun';
import type { Sealer } from '../../lib/seal.ts';
import { decodePayment, encodePayment, idOf } from '../../model/payment.ts';
import { isOvertaken } from '../overtaken.ts';
import type {
  BudgetReservation,
  BudgetRules,
  BudgetStanding,
  Spend,
  SpendState,
  SpendStore,
} from '../ports.ts';
import { budgetRows } from './budgets.ts';
import type { Database } from './database.ts';
import { fetchedInvoiceRows } from './fetched-invoices.ts';
import { idempotencyRows } from './idempotency.ts';
import type { Joint } from './joined-writes.ts';
import { journalRows } from './journal.ts';
import { spendingRows } from './spending.ts';
import { together } from './together.ts';
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
  /** The spends with these indexes. */
  ofIndexes(sql: SQL, walletId: string, indexes: readonly string[]): Promise<Spend[]>;
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
  const ofIndexes: SpendRows['ofIndexes'] = async (sql, walletId, indexes) => {
    const rows = await sql<Row[]>`
      SELECT s.*, f.invoice FROM wallet_sidecar.spend s LEFT JOIN wallet_sidecar.fetched_invoice f ON f.wallet = s.wallet AND f.idx = s.idx
      WHERE s.wallet = ${walletId} AND s.idx = ANY(${sql.array([...indexes], 'text')}::text[])`;
    return rows.map((row) => decode(walletId, row));
  };
  return {
    ofIndexes,
    get: async (sql, walletId, index) => (await ofIndexes(sql, walletId, [index]))[0] ?? null,
    async known(tx, walletId, index, attempt) {
      await tx`UPDATE wallet_sidecar.spend SET state = 'known', attempt = coalesce(attempt, ${attempt})
        WHERE wallet = ${walletId} AND idx = ${index}`;
    },
    async remove(tx, walletId, index) {
      await tx`DELETE FROM wallet_sidecar.spend WHERE wallet = ${walletId} AND idx = ${index}`;
    },
    async all(sql, walletId) {
      const rows = await sql<Row[]>`
        SELECT s.*, f.invoice FROM wallet_sidecar.spend s LEFT JOIN wallet_sidecar.fetched_invoice f ON f.wallet = s.wallet AND f.idx = s.idx
        WHERE s.wallet = ${walletId} ORDER BY s.idx`;
      return rows.map((row) => decode(walletId, row));
    },
  };
}

const standingOf = (
  tx: SQL,
  walletId: string,
  { clientPk, nowMs }: BudgetReservation,
  { periodStart }: BudgetRules,
) => budgetRows.standing(tx, walletId, clientPk, nowMs, periodStart);

async function reserve(
  { tx, joint }: { readonly tx: SQL; readonly joint: Joint },
  walletId: string,
  name: string,
  reservation: BudgetReservation,
  { budget, budgetState, periodStart }: BudgetStanding & Pick<BudgetRules, 'periodStart'>,
): Promise<void> {
  const period = budget?.period ?? null;
  if (budgetState !== 'none') joint.advanceCounter();
  await spendingRows.reserve(tx, walletId, name, reservation, { period, periodStart });
}

/** Writes what belongs to an asked spend. It is journaled unless the node keeps the history. */
async function bind(
  tx: SQL,
  walletId: string,
  { payment, afterAttempt, caller, idempotencyKey: key }: Omit<Spend, 'walletId' | 'attempt'>,
  journaled: boolean,
): Promise<void> {
  await together([
    journaled && journalRows.putHidden(tx, walletId, { payment, attempt: null, afterAttempt }),
    key !== null && idempotencyRows.bind(tx, { walletId, caller, key }, payment.index),
  ]);
}

/** Returns the {@link SpendStore} over PostgreSQL. */
export function postgresSpends(db: Database, sealer: Sealer, spends: SpendRows): SpendStore {
  const sealed = (walletId: string, index: string, plan: string | null) =>
    plan && sealer.seal(plan, place(walletId, index));
  return {
    begin: (walletId, spend, rules) =>
      db.write(walletId, async (tx, joint) => {
        const { payment, state, afterAttempt, plan, caller, idempotencyKey, reservation } = spend;
        const { index } = payment;
        const { journaled } = spend;
        const [latest, taken, standing] = await together([
          journaled ? journalRows.latest(tx, walletId, idOf(payment)) : null,
          journaled ? journalRows.get(tx, walletId, index) : null,
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
        const json = JSON.stringify(encodePayment(payment));
        await together([
          reservation &&
            standing &&
            reserve({ tx, joint }, walletId, index, reservation, { ...rules, ...standing }),
          tx`INSERT INTO wallet_sidecar.spend (wallet, idx, state, json, after_attempt, sealed_plan, caller, idempotency_key)
            VALUES (${walletId}, ${index}, ${state}, ${json}, ${afterAttempt}, ${sealed(walletId, index, plan)},
              ${caller}, ${idempotencyKey})`,
          spend.fetchedInvoice !== null &&
            fetchedInvoiceRows.add(tx, walletId, index, spend.fetchedInvoice),
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
        await tx`
          UPDATE wallet_sidecar.spend SET state = CASE WHEN state = 'begun' THEN 'asked' ELSE state END,
            sealed_plan = coalesce(${sealed(walletId, index, plan)}, sealed_plan)
          WHERE wallet = ${walletId} AND idx = ${index}`;
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
          fetchedInvoiceRows.remove(tx, walletId, index),
          watchRows.endPayment(tx, walletId, index),
          journalRows.remove(tx, walletId, index),
          spendingRows.release(tx, walletId, index, periodStart),
          key !== null && idempotencyRows.unbind(tx, { walletId, caller, key }, index),
        ]);
      }),
    get: (walletId, index) => db.read((sql) => spends.get(sql, walletId, index)),
    fetchedInvoice: (walletId, index) =>
      db.read((sql) => fetchedInvoiceRows.get(sql, walletId, index)),
    async callerOf(walletId, index) {
      // A failed payment has no caller here: its reservation was given back, and any caller may send it again.
      const [row] = await db.read(
        (sql) => sql<{ caller: string }[]>`
          SELECT caller FROM wallet_sidecar.spend WHERE wallet = ${walletId} AND idx = ${index} AND caller <> 'owner'
          UNION ALL SELECT client_pk FROM wallet_sidecar.spending WHERE wallet = ${walletId} AND name = ${index} LIMIT 1`,
      );
      return row?.caller ?? null;
    },
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
        if (await spendingRows.isSettled(tx, walletId, name)) return;
        await spendingRows.release(tx, walletId, name, rules.periodStart);
        const standing = await standingOf(tx, walletId, reservation, rules);
        rules.requireWithinBudget(standing, reservation.amountMsat);
        await reserve({ tx, joint }, walletId, name, reservation, { ...rules, ...standing });
      }),
    settle: (walletId, ...cost) =>
      db.write(walletId, (tx) => spendingRows.close(tx, walletId, ...cost)),
  };
}
