import type { SQL } from 'bun';
import { standingOf } from '../columns/budget.ts';
import type { BudgetChange, BudgetStanding, BudgetStore, PeriodStart } from '../ports.ts';
import type { BudgetTable } from './budget-table.ts';
import type { ClientRows } from './client-rows.ts';
import type { Database } from './database.ts';
import type { SpendingRows } from './spending.ts';
import { together } from './together.ts';

/** The budgets of clients, for ports that read and write them inside their own transactions. */
export interface BudgetRows {
  standing(
    sql: SQL,
    walletId: string,
    clientPk: string,
    nowMs: number,
    periodStart: PeriodStart,
  ): Promise<BudgetStanding>;
  /** Sets the budget, or removes it (null). When the period changes, the sums are computed again. */
  set(tx: SQL, walletId: string, change: BudgetChange): Promise<void>;
}

/** Returns them over the tables of clients, budgets and spending. */
export function budgetRows(
  table: BudgetTable,
  clients: ClientRows,
  spending: SpendingRows,
): BudgetRows {
  return {
    async standing(sql, walletId, clientPk, nowMs, periodStart) {
      const [budgetState, row] = await together([
        clients.budgetState(sql, walletId, clientPk),
        table.get(sql, walletId, clientPk),
      ]);
      return standingOf(budgetState, row, nowMs, periodStart);
    },
    async set(tx, walletId, { clientPk, budget, periodStart }) {
      if (budget === null) return table.remove(tx, walletId, clientPk);
      const before = await table.get(tx, walletId, clientPk);
      const sums =
        before?.budget.period === budget.period
          ? before.sums
          : await spending.sums(tx, walletId, clientPk, budget.period, periodStart);
      await table.put(tx, walletId, clientPk, { budget, sums });
    },
  };
}

/** Returns the {@link BudgetStore} over PostgreSQL. */
export function postgresBudgets(db: Database, rows: BudgetRows): BudgetStore {
  return { get: (...query) => db.read((sql) => rows.standing(sql, ...query)) };
}
