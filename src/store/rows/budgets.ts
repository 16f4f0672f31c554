import { standingOf } from '../columns/budget.ts';
import type { BudgetChange, BudgetStanding, BudgetStore, PeriodStart } from '../ports.ts';
import type { BudgetTable } from './budget-table.ts';
import type { ClientRows } from './client-rows.ts';
import type { RowDatabase } from './rows.ts';
import type { SpendingRows } from './spending.ts';
import { type Steps, together } from './steps.ts';

/** The budgets of clients, for ports that read and write them inside their own transactions. */
export interface BudgetRows {
  standing(
    walletId: string,
    clientPk: string,
    nowMs: number,
    periodStart: PeriodStart,
  ): Steps<BudgetStanding>;
  /** Sets the budget, or removes it (null). When the period changes, the sums are computed again. */
  set(walletId: string, change: BudgetChange): Steps<void>;
}

/** Returns them over the tables of clients, budgets and spending. */
export function budgetRows(
  table: BudgetTable,
  clients: ClientRows,
  spending: SpendingRows,
): BudgetRows {
  return {
    *standing(walletId, clientPk, nowMs, periodStart) {
      const [budgetState, row] = yield* together([
        clients.budgetState(walletId, clientPk),
        table.get(walletId, clientPk),
      ]);
      return standingOf(budgetState, row, nowMs, periodStart);
    },
    *set(walletId, { clientPk, budget, periodStart }) {
      if (budget === null) return void (yield* table.remove(walletId, clientPk));
      const before = yield* table.get(walletId, clientPk);
      const sums =
        before?.budget.period === budget.period
          ? before.sums
          : yield* spending.sums(walletId, clientPk, budget.period, periodStart);
      yield* table.put(walletId, clientPk, { budget, sums });
    },
  };
}

/** Returns the {@link BudgetStore}. */
export function budgetStore(db: RowDatabase, rows: BudgetRows): BudgetStore {
  return { get: (...query) => db.read(() => rows.standing(...query)) };
}
