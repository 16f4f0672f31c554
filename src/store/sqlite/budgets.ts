import type { Database } from 'bun:sqlite';
import { type Budget, type BudgetPeriod, budgetWindow } from '../../model/budget.ts';
import type { BudgetStore } from '../ports.ts';
import type { WriteQueue } from './write-queue.ts';

/** Budgets and what was spent of them, for the ports that read them inside their own transactions. */
export interface BudgetRows {
  get(
    walletId: string,
    clientPk: string,
    nowMs: number,
  ): { budget: Budget; spentMsat: bigint } | null;
}

/** Prepared access to the budget and spending tables. Amounts are cast to text: they exceed what a double holds. */
export function budgetRows(db: Database): BudgetRows {
  const read = db.prepare<
    { amount: string; period: string; most: string | null },
    [string, string]
  >(
    `SELECT CAST(amount_msat AS TEXT) AS amount, period, CAST(max_payment_msat AS TEXT) AS most
     FROM budget WHERE wallet = ? AND client_pk = ?`,
  );
  const spent = db.prepare<{ sum: string | null }, [string, string, number]>(
    `SELECT CAST(sum(amount_msat) AS TEXT) AS sum FROM spending
     WHERE wallet = ? AND client_pk = ? AND at >= ?`,
  );
  return {
    get(walletId, clientPk, nowMs) {
      const row = read.get(walletId, clientPk);
      if (!row) return null;
      const budget: Budget = {
        amountMsat: BigInt(row.amount),
        period: row.period as BudgetPeriod,
        maxPaymentMsat: row.most === null ? null : BigInt(row.most),
      };
      const { startsAtMs } = budgetWindow(budget.period, nowMs);
      return { budget, spentMsat: BigInt(spent.get(walletId, clientPk, startsAtMs)?.sum ?? '0') };
    },
  };
}

/** {@link BudgetStore} over SQLite. */
export function sqliteBudgets(db: Database, queue: WriteQueue, rows: BudgetRows): BudgetStore {
  const set = db.prepare(
    `INSERT OR REPLACE INTO budget (wallet, client_pk, amount_msat, period, max_payment_msat)
     VALUES (?, ?, ?, ?, ?)`,
  );
  const remove = db.prepare('DELETE FROM budget WHERE wallet = ? AND client_pk = ?');
  return {
    set: (walletId, clientPk, budget) =>
      queue.write(() => {
        if (budget === null) remove.run(walletId, clientPk);
        else {
          const { amountMsat, period, maxPaymentMsat } = budget;
          set.run(walletId, clientPk, amountMsat, period, maxPaymentMsat);
        }
      }),
    get: async (walletId, clientPk, nowMs) => rows.get(walletId, clientPk, nowMs),
  };
}
