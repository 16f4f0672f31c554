import type { BudgetPeriod } from '../../model/clients/budget.ts';
import { type BudgetSums, sumsOf } from '../budget-sums.ts';
import { type SpendingColumns, withoutCopies } from '../columns/spending.ts';
import type { BudgetReservation, PeriodStart } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import type { BudgetTable } from './budget-table.ts';
import type { Rows } from './rows.ts';
import { type Steps, together } from './steps.ts';
import { type Stored, tableOf } from './table.ts';

/** What clients have spent and reserved, for ports that write it inside their own transactions. */
export interface SpendingRows {
  /** Computes what the client has spent and reserved in each period. */
  sums(
    walletId: string,
    clientPk: string,
    period: BudgetPeriod,
    periodStart: PeriodStart,
  ): Steps<BudgetSums>;
  /** Reserves an amount under a name, in the period of its time; without periods for a client without a budget. */
  reserve(
    walletId: string,
    name: string,
    reservation: BudgetReservation,
    periodStart: PeriodStart | null,
  ): Steps<void>;
  /** Replaces the reservation of that name by its cost, in the period in which it was reserved; 0 gives it back. */
  close(walletId: string, name: string, costMsat: bigint, periodStart: PeriodStart): Steps<void>;
  /** Whether the cost of that name is settled. */
  isSettled(walletId: string, name: string): Steps<boolean>;
  /** The client that reserved or spent under that name; null where none did. */
  clientOf(walletId: string, name: string): Steps<string | null>;
  /** Gives back the reservation of that name. What is settled stays. */
  release(walletId: string, name: string, periodStart: PeriodStart): Steps<void>;
  /** {@link release} that gives back what is settled too. */
  undo(walletId: string, name: string, periodStart: PeriodStart): Steps<void>;
}

type Row = Stored<SpendingColumns> & { readonly seq: number; readonly budgets: number };

/**
 * Prepares the statements of spending. The spending of every client is stored, so that a budget set later counts it;
 * sums exist only for clients with a budget.
 */
export function spendingRows(rows: Rows, budgets: BudgetTable): SpendingRows {
  const table = tableOf<SpendingColumns>(rows, SIGNED.spending);
  const budgeted =
    'FROM wallet_sidecar.budget b WHERE b.wallet = spending.wallet AND b.client_pk = spending.client_pk';
  // A client without a budget has no sums that could change.
  const whole = {
    others: ['seq', `(SELECT count(*) ${budgeted}) AS budgets`],
    of: (row: Row) => row,
  };
  const ofClient = table.select('WHERE wallet = ? AND client_pk = ?', whole);
  const ofName = table.select(`WHERE wallet = ? AND ${table.column('idx')} = ?`, whole);
  const insert = table.insert();
  const settle = rows.prepare(
    'UPDATE wallet_sidecar.spending SET amount_msat = ?, settled = TRUE, mac = ? WHERE seq = ?',
  );
  const remove = rows.prepare('DELETE FROM wallet_sidecar.spending WHERE seq = ?');

  function* held(walletId: string, name: string) {
    return (yield* ofName.all(walletId, name)).filter(({ settled }) => settled === 0);
  }

  function* giveBack(
    walletId: string,
    given: readonly Row[],
    periodStart: PeriodStart,
  ): Steps<void> {
    for (const { seq } of given) yield* remove.run(seq);
    for (const { client_pk: clientPk, at: atMs, amount_msat: amount } of withoutCopies(given)) {
      yield* budgets.add(walletId, clientPk, { atMs, amountMsat: -BigInt(amount) }, periodStart);
    }
  }

  function* release(walletId: string, name: string, periodStart: PeriodStart): Steps<void> {
    yield* giveBack(walletId, yield* held(walletId, name), periodStart);
  }

  return {
    *sums(walletId, clientPk, period, periodStart) {
      const found = yield* ofClient.all(walletId, clientPk);
      const spent = found.map(({ at: atMs, amount_msat: amount }) => ({
        atMs,
        amountMsat: BigInt(amount),
      }));
      return sumsOf(spent, period, periodStart);
    },
    *reserve(wallet, idx, { clientPk, amountMsat, nowMs: at }, periodStart) {
      const amount = `${amountMsat}`;
      yield* together([
        insert({ wallet, idx, client_pk: clientPk, at, amount_msat: amount, settled: 0 }),
        periodStart && budgets.add(wallet, clientPk, { atMs: at, amountMsat }, periodStart),
      ]);
    },
    *close(walletId, name, costMsat, periodStart) {
      if (costMsat === 0n) return yield* release(walletId, name, periodStart);
      const reserved = yield* held(walletId, name);
      const own = withoutCopies(reserved);
      // A copy that stayed would be given back by the next end that is told.
      for (const row of reserved) if (!own.includes(row)) yield* remove.run(row.seq);
      for (const row of own) {
        const { seq, client_pk: clientPk, at: atMs, amount_msat: amount } = row;
        const cost = `${costMsat}`;
        const mac = table.mac({ ...row, amount_msat: cost, settled: 1 });
        const amountMsat = costMsat - BigInt(amount);
        yield* together([
          settle.run(cost, mac, seq),
          row.budgets > 0 && budgets.add(walletId, clientPk, { atMs, amountMsat }, periodStart),
        ]);
      }
    },
    *isSettled(walletId, name) {
      return (yield* ofName.all(walletId, name)).some(({ settled }) => settled === 1);
    },
    *clientOf(walletId, name) {
      return (yield* ofName.all(walletId, name))[0]?.client_pk ?? null;
    },
    release,
    *undo(walletId, name, periodStart) {
      yield* giveBack(walletId, yield* ofName.all(walletId, name), periodStart);
    },
  };
}
