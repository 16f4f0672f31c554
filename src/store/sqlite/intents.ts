import type { Database } from 'bun:sqlite';
import { formatAmountMsat } from '../../model/amount.ts';
import { ApiError } from '../../model/errors.ts';
import type { BudgetReservation, IntentStore } from '../ports.ts';
import type { BudgetRows } from './budgets.ts';
import type { JournalRows } from './journal.ts';
import type { WriteQueue } from './write-queue.ts';

/** {@link IntentStore} over SQLite. */
export function sqliteIntents(
  db: Database,
  queue: WriteQueue,
  journal: JournalRows,
  budgets: BudgetRows,
): IntentStore {
  const addWatch = db.prepare(
    "INSERT INTO watch (wallet, kind, key) VALUES (?, 'payment', ?) ON CONFLICT DO NOTHING",
  );
  const removeWatch = db.prepare(
    "DELETE FROM watch WHERE wallet = ? AND kind = 'payment' AND key = ?",
  );
  const nameKey = db.prepare('UPDATE idempotency SET idx = ? WHERE wallet = ? AND key = ?');
  const reserve = db.prepare(
    'INSERT INTO spending (wallet, client_pk, at, idx, amount_msat) VALUES (?, ?, ?, ?, ?)',
  );
  const release = db.prepare('DELETE FROM spending WHERE wallet = ? AND idx = ?');

  function checkBudget(walletId: string, reservation: BudgetReservation): void {
    const { clientPk, amountMsat, nowMs } = reservation;
    const state = budgets.get(walletId, clientPk, nowMs);
    if (!state) return;
    const { budget, spentMsat } = state;
    if (budget.maxPaymentMsat !== null && amountMsat > budget.maxPaymentMsat) {
      throw overBudget(
        `A payment with these credentials may cost at most ${formatAmountMsat(budget.maxPaymentMsat)} sats with its fees.`,
        budget.maxPaymentMsat,
      );
    }
    const remainingMsat = budget.amountMsat - spentMsat;
    if (amountMsat > remainingMsat) {
      const left = remainingMsat > 0n ? remainingMsat : 0n;
      throw overBudget(
        `The budget of these credentials has ${formatAmountMsat(left)} sats left for this ${budget.period === 'total' ? 'client' : budget.period}, and this payment may cost up to ${formatAmountMsat(amountMsat)} with its fees.`,
        left,
      );
    }
  }

  return {
    begin: (walletId, { payment, journaled, reservation, idempotencyKey }) =>
      queue.write(() => {
        if (reservation) {
          checkBudget(walletId, reservation);
          const { clientPk, nowMs, amountMsat } = reservation;
          reserve.run(walletId, clientPk, nowMs, payment.index, amountMsat);
        }
        addWatch.run(walletId, payment.index);
        if (journaled) journal.put(walletId, payment, payment.createdAtMs);
        if (idempotencyKey !== null) nameKey.run(payment.index, walletId, idempotencyKey);
      }),
    abandon: (walletId, index, idempotencyKey) =>
      queue.write(() => {
        removeWatch.run(walletId, index);
        journal.remove(walletId, index);
        release.run(walletId, index);
        if (idempotencyKey !== null) nameKey.run(null, walletId, idempotencyKey);
      }),
  };
}

function overBudget(message: string, remainingMsat: bigint): ApiError {
  return new ApiError('overBudget', message, {
    data: { remaining: formatAmountMsat(remainingMsat) },
  });
}
