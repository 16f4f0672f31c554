import type { Database } from 'bun:sqlite';
import type { Budget, BudgetPeriod } from '../../model/budget.ts';
import type { BudgetState } from '../../model/client.ts';
import type { BudgetChange, BudgetStanding, BudgetStore, PeriodStart } from '../ports.ts';
import type { SpendingRows } from './spending.ts';

/** Rows of the budget table, for ports that read and write them inside their own transactions. */
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

/** Prepares the statements of the budget table. Amounts are read as text, because they exceed what a double holds. */
export function budgetRows(db: Database, spending: SpendingRows): BudgetRows {
  const read = db.prepare<
    { amount: string; period: string; most: string | null },
    [string, string]
  >(
    `SELECT CAST(amount_msat AS TEXT) AS amount, period, CAST(max_payment_msat AS TEXT) AS most
     FROM budget WHERE wallet = ? AND client_pk = ?`,
  );
  const readState = db.prepare<{ budget_state: string }, [string, string]>(
    'SELECT budget_state FROM client WHERE client_pk = ? AND wallet = ?',
  );
  const set = db.prepare(
    `INSERT OR REPLACE INTO budget (wallet, client_pk, amount_msat, period, max_payment_msat)
     VALUES (?, ?, ?, ?, ?)`,
  );
  const remove = db.prepare('DELETE FROM budget WHERE wallet = ? AND client_pk = ?');

  function get(walletId: string, clientPk: string): Budget | null {
    const row = read.get(walletId, clientPk);
    return (
      row && {
        amountMsat: BigInt(row.amount),
        period: row.period as BudgetPeriod,
        maxPaymentMsat: row.most === null ? null : BigInt(row.most),
      }
    );
  }

  return {
    standing(walletId, clientPk, nowMs, periodStart) {
      const state = readState.get(clientPk, walletId)?.budget_state ?? 'none';
      const budget = get(walletId, clientPk);
      const spentMsat =
        budget === null ? 0n : spending.sum(walletId, clientPk, periodStart(budget.period, nowMs));
      return { budgetState: state as BudgetState, budget, spentMsat };
    },
    set(walletId, { clientPk, budget, periodStart }) {
      const before = get(walletId, clientPk);
      if (budget === null) remove.run(walletId, clientPk);
      else {
        const { amountMsat, period, maxPaymentMsat } = budget;
        set.run(walletId, clientPk, amountMsat, period, maxPaymentMsat);
      }
      if (before?.period !== budget?.period) spending.sumUp(walletId, clientPk, periodStart);
    },
  };
}

/** Returns the {@link BudgetStore} over SQLite. */
export function sqliteBudgets(rows: BudgetRows): BudgetStore {
  return { get: async (...query) => rows.standing(...query) };
}
