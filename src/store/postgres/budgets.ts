import type { SQL } from 'bun';
import type { Budget, BudgetPeriod } from '../../model/budget.ts';
import type { BudgetState } from '../../model/client.ts';
import type { BudgetChange, BudgetStanding, BudgetStore, PeriodStart } from '../ports.ts';
import type { Database } from './database.ts';
import { spendingRows } from './spending.ts';

interface Row {
  readonly budget_state: BudgetState | null;
  readonly amount: string | null;
  readonly period: BudgetPeriod | null;
  readonly most: string | null;
}

/** Rows of the budget table, for ports that read and write them inside their own transactions. */
export const budgetRows = {
  async standing(
    sql: SQL,
    walletId: string,
    clientPk: string,
    nowMs: number,
    periodStart: PeriodStart,
  ): Promise<BudgetStanding> {
    const [row] = await sql<Row[]>`
      SELECT (SELECT budget_state FROM wallet_sidecar.client WHERE client_pk = ${clientPk} AND wallet = ${walletId}) AS budget_state,
        b.amount_msat::text AS amount, b.period, b.max_payment_msat::text AS most
      FROM (SELECT 1) one LEFT JOIN wallet_sidecar.budget b ON b.wallet = ${walletId} AND b.client_pk = ${clientPk}`;
    const budget = row ? budgetOf(row) : null;
    const spentMsat =
      budget === null
        ? 0n
        : await spendingRows.sum(sql, walletId, clientPk, periodStart(budget.period, nowMs));
    return { budgetState: row?.budget_state ?? 'none', budget, spentMsat };
  },
  /** Sets the budget, or removes it (null). When the period changes, the sums are computed again. */
  async set(
    tx: SQL,
    walletId: string,
    { clientPk, budget, periodStart }: BudgetChange,
  ): Promise<void> {
    const [before] = await tx<{ period: BudgetPeriod }[]>`
      SELECT period FROM wallet_sidecar.budget WHERE wallet = ${walletId} AND client_pk = ${clientPk}`;
    if (budget === null) {
      await tx`DELETE FROM wallet_sidecar.budget WHERE wallet = ${walletId} AND client_pk = ${clientPk}`;
    } else {
      const most = budget.maxPaymentMsat === null ? null : `${budget.maxPaymentMsat}`;
      await tx`INSERT INTO wallet_sidecar.budget (wallet, client_pk, amount_msat, period, max_payment_msat)
        VALUES (${walletId}, ${clientPk}, ${`${budget.amountMsat}`}::numeric, ${budget.period}, ${most}::numeric)
        ON CONFLICT (wallet, client_pk) DO UPDATE SET amount_msat = excluded.amount_msat,
          period = excluded.period, max_payment_msat = excluded.max_payment_msat`;
    }
    if (before?.period !== budget?.period) {
      await spendingRows.sumUp(tx, walletId, clientPk, periodStart);
    }
  },
};

/** Returns the {@link BudgetStore} over PostgreSQL. */
export function postgresBudgets(db: Database): BudgetStore {
  return { get: (...query) => db.read((sql) => budgetRows.standing(sql, ...query)) };
}

function budgetOf({ amount, period, most }: Row): Budget | null {
  if (amount === null || period === null) return null;
  return {
    amountMsat: BigInt(amount),
    period,
    maxPaymentMsat: most === null ? null : BigInt(most),
  };
}
