import type { Budget, BudgetPeriod } from '../../model/clients/budget.ts';
import {
  type BudgetSums,
  decodeSums,
  encodeSums,
  type SpentAt,
  spentSince,
  withAdded,
} from '../budget-sums.ts';
import type { BudgetStanding, PeriodStart } from '../ports.ts';

/** A budget, with what was spent of it. */
export interface BudgetRow {
  readonly budget: Budget;
  readonly sums: BudgetSums;
}

/** The columns of a budget that are signed, the same in both engines. */
export interface BudgetColumns {
  readonly wallet: string;
  readonly client_pk: string;
  readonly amount_msat: string;
  readonly period: BudgetPeriod;
  readonly max_payment_msat: string | null;
  readonly spent: string;
}

/** Returns the columns of a client's budget. */
export function columnsOfBudget(
  wallet: string,
  clientPk: string,
  { budget: { amountMsat, period, maxPaymentMsat }, sums }: BudgetRow,
): BudgetColumns {
  return {
    wallet,
    client_pk: clientPk,
    amount_msat: `${amountMsat}`,
    period,
    max_payment_msat: maxPaymentMsat === null ? null : `${maxPaymentMsat}`,
    spent: encodeSums(sums),
  };
}

/** Returns the budget of these columns. */
export function budgetOf(columns: BudgetColumns): BudgetRow {
  const { amount_msat: amount, period, max_payment_msat: most, spent } = columns;
  return {
    budget: {
      amountMsat: BigInt(amount),
      period,
      maxPaymentMsat: most === null ? null : BigInt(most),
    },
    sums: decodeSums(spent),
  };
}

/** Returns the row with an amount added to the sum of its period; it may be negative. */
export function withSpent(row: BudgetRow, spent: SpentAt, periodStart: PeriodStart): BudgetRow {
  return { ...row, sums: withAdded(row.sums, spent, row.budget.period, periodStart) };
}

/** Returns how a client's budget stands; `row` is null where it has none, or one that does not fit. */
export function standingOf(
  budgetState: BudgetStanding['budgetState'],
  row: BudgetRow | null,
  nowMs: number,
  periodStart: PeriodStart,
): BudgetStanding {
  return {
    budgetState,
    budget: row?.budget ?? null,
    spentMsat: row ? spentSince(row.sums, periodStart(row.budget.period, nowMs)) : 0n,
  };
}
