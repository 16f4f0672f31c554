import type { SpentAt } from '../budget-sums.ts';
import {
  type BudgetColumns,
  type BudgetRow,
  budgetOf,
  columnsOfBudget,
  withSpent,
} from '../columns/budget.ts';
import type { PeriodStart } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { Rows } from './rows.ts';
import type { Steps } from './steps.ts';
import { tableOf } from './table.ts';

/** The table of budgets. Two changes of a row must not run side by side. */
export interface BudgetTable {
  /** Null where the client has no budget, or its row does not fit. */
  get(walletId: string, clientPk: string): Steps<BudgetRow | null>;
  put(walletId: string, clientPk: string, row: BudgetRow): Steps<unknown>;
  remove(walletId: string, clientPk: string): Steps<unknown>;
  /** Adds to the sum of the period that contains the time, where the client has a budget. */
  add(walletId: string, clientPk: string, spent: SpentAt, periodStart: PeriodStart): Steps<void>;
}

/** Prepares the statements of the table. */
export function budgetTable(rows: Rows): BudgetTable {
  const budgets = tableOf<BudgetColumns>(rows, SIGNED.budget);
  const read = budgets.select('WHERE wallet = ? AND client_pk = ?', { of: budgetOf });
  const put = budgets.upsert();
  const table: BudgetTable = {
    get: read.one,
    put: (walletId, clientPk, row) => put(columnsOfBudget(walletId, clientPk, row)),
    remove: budgets.remove(),
    *add(walletId, clientPk, spent, periodStart) {
      if (spent.amountMsat === 0n) return;
      const row = yield* table.get(walletId, clientPk);
      if (row === null) return;
      yield* table.put(walletId, clientPk, withSpent(row, spent, periodStart));
    },
  };
  return table;
}
