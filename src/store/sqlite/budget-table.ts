import type { Database } from 'bun:sqlite';
import type { SpentAt } from '../budget-sums.ts';
import {
  type BudgetColumns,
  type BudgetRow,
  budgetOf,
  columnsOfBudget,
  withSpent,
} from '../columns/budget.ts';
import type { PeriodStart } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { rowWriter, type Stored } from './signed-table.ts';

/** The table of budgets. */
export interface BudgetTable {
  /** Null where the client has no budget, or its row does not fit. */
  get(walletId: string, clientPk: string): BudgetRow | null;
  put(walletId: string, clientPk: string, row: BudgetRow): void;
  remove(walletId: string, clientPk: string): void;
  /** Adds to the sum of the period that contains the time, where the client has a budget. */
  add(walletId: string, clientPk: string, spent: SpentAt, periodStart: PeriodStart): void;
}

type Row = Stored<BudgetColumns>;

/** Prepares the statements of the table. Amounts are read as text, because they exceed what a double holds. */
export function budgetTable(db: Database, signer: RowSigner): BudgetTable {
  const read = db.prepare<Row, [string, string]>(
    `SELECT wallet, client_pk, CAST(amount_msat AS TEXT) AS amount_msat, period,
       CAST(max_payment_msat AS TEXT) AS max_payment_msat, spent, mac
     FROM budget WHERE wallet = ? AND client_pk = ?`,
  );
  const write = rowWriter(db, signer, SIGNED.budget, { verb: 'REPLACE' });
  const remove = db.prepare('DELETE FROM budget WHERE wallet = ? AND client_pk = ?');

  const table: BudgetTable = {
    get(walletId, clientPk) {
      const row = read.get(walletId, clientPk);
      return row && signer.fits(SIGNED.budget, row) ? budgetOf(row) : null;
    },
    put: (walletId, clientPk, row) => void write(columnsOfBudget(walletId, clientPk, row)),
    remove: (walletId, clientPk) => void remove.run(walletId, clientPk),
    add(walletId, clientPk, spent, periodStart) {
      if (spent.amountMsat === 0n) return;
      const row = table.get(walletId, clientPk);
      if (row === null) return;
      table.put(walletId, clientPk, withSpent(row, spent, periodStart));
    },
  };
  return table;
}
