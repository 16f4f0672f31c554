import type { SQL } from 'bun';
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
import type { RawRow, SignedRows } from './signed-rows.ts';

/** The table of budgets. */
export interface BudgetTable {
  /** Null where the client has no budget, or its row does not fit. */
  get(sql: SQL, walletId: string, clientPk: string): Promise<BudgetRow | null>;
  put(tx: SQL, walletId: string, clientPk: string, row: BudgetRow): Promise<void>;
  remove(tx: SQL, walletId: string, clientPk: string): Promise<void>;
  /** Adds to the sum of the period that contains the time, where the client has a budget. */
  add(
    tx: SQL,
    walletId: string,
    clientPk: string,
    spent: SpentAt,
    periodStart: PeriodStart,
  ): Promise<void>;
}

/** Returns the table. Two changes of a row must not run side by side. */
export function budgetTable(signed: SignedRows): BudgetTable {
  const table: BudgetTable = {
    async get(sql, walletId, clientPk) {
      const [row] = await sql<RawRow[]>`
        SELECT wallet, client_pk, amount_msat::text AS amount_msat, period,
          max_payment_msat::text AS max_payment_msat, spent, mac
        FROM wallet_sidecar.budget WHERE wallet = ${walletId} AND client_pk = ${clientPk}`;
      const columns = row ? signed.read<BudgetColumns>(SIGNED.budget, row) : null;
      return columns && budgetOf(columns);
    },
    async put(tx, walletId, clientPk, row) {
      const columns = columnsOfBudget(walletId, clientPk, row);
      const { amount_msat: amount, period, max_payment_msat: most, spent } = columns;
      await tx`INSERT INTO wallet_sidecar.budget (wallet, client_pk, amount_msat, period, max_payment_msat, spent, mac)
        VALUES (${walletId}, ${clientPk}, ${amount}::numeric, ${period}, ${most}::numeric, ${spent},
          ${signed.mac(SIGNED.budget, columns)})
        ON CONFLICT (wallet, client_pk) DO UPDATE SET amount_msat = excluded.amount_msat,
          period = excluded.period, max_payment_msat = excluded.max_payment_msat, spent = excluded.spent,
          mac = excluded.mac`;
    },
    async remove(tx, walletId, clientPk) {
      await tx`DELETE FROM wallet_sidecar.budget WHERE wallet = ${walletId} AND client_pk = ${clientPk}`;
    },
    async add(tx, walletId, clientPk, spent, periodStart) {
      if (spent.amountMsat === 0n) return;
      const row = await table.get(tx, walletId, clientPk);
      if (row === null) return;
      await table.put(tx, walletId, clientPk, withSpent(row, spent, periodStart));
    },
  };
  return table;
}
