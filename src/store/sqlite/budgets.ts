import { standingOf } from '../columns/budget.ts';
import type { BudgetChange, BudgetStanding, BudgetStore, PeriodStart } from '../ports.ts';
import type { BudgetTable } from './budget-table.ts';
import type { ClientRows } from './client-rows.ts';
import type { SpendingRows } from './spending.ts';

/** The budgets of clients, for ports that read and write them inside their own transactions. */
export interface BudgetRows {
  standing(
    walletId: string,
    clientPk: string,
    nowMs: number,
    periodStart: PeriodStart,
  ): BudgetStanding;
  /** Sets the budget, or removes it (null). When the period changes, the sums are computed again. */
  set(walletId: string, change: BudgetChange): void;
}

/** Returns them over the tables of clients, budgets and spending. */
export function budgetRows(
  table: BudgetTable,
  clients: ClientRows,
  spending: SpendingRows,
): BudgetRows {
  return {
    standing(walletId, clientPk, nowMs, periodStart) {
      const budgetState = clients.budgetState(walletId, clientPk);
      return standingOf(budgetState, table.get(walletId, clientPk), nowMs, periodStart);
    },
    set(walletId, { clientPk, budget, periodStart }) {
      if (budget === null) return table.remove(walletId, clientPk);
      const before = table.get(walletId, clientPk);
      const sums =
        before?.budget.period === budget.period
          ? before.sums
          : spending.sums(walletId, clientPk, budget.period, periodStart);
      table.put(walletId, clientPk, { budget, sums });
    },
  };
}

/** Returns the {@link BudgetStore} over SQLite. */
export function sqliteBudgets(rows: BudgetRows): BudgetStore {
  return { get: async (...query) => rows.standing(...query) };
}
