import { formatAmountMsat } from '../../model/amount.ts';
import { type BudgetPeriod, budgetWindow } from '../../model/clients/budget.ts';
import { ApiError } from '../../model/errors.ts';
import type { BudgetRules, BudgetStanding } from '../../store/ports.ts';

/** For clients with a budget: how many times its estimate an on-chain fee may reach (docs/decisions.md 68). */
export const FEE_HEADROOM = 2n;

/** The smaller of two limits, in millisatoshis; null is none. */
export function lesserMsat<Limit extends bigint | null>(
  a: bigint | null,
  b: Limit,
): bigint | Limit {
  return a !== null && (b === null || a < b) ? a : b;
}

/** Returns when the budget period that contains `atMs` began (docs/decisions.md 66). */
export function periodStart(period: BudgetPeriod, atMs: number): number {
  return budgetWindow(period, atMs).startsAtMs;
}

/**
 * Throws `overBudget` (error 109) when a client may not reserve this amount, fees included, in millisatoshis
 * (docs/decisions.md 66). A budget fails closed: a client whose budget row is missing spends nothing
 * (docs/decisions.md 69).
 */
export function requireWithinBudget(standing: BudgetStanding, amountMsat: bigint): void {
  const { budgetState, budget, spentMsat } = standing;
  if (budgetState !== 'set') return;
  if (budget === null) {
    throw overBudget(
      'The budget of these credentials is missing from the database, so they may not spend: ask the wallet owner to set it again.',
      0n,
    );
  }
  const { maxPaymentMsat } = budget;
  const leftMsat = budget.amountMsat > spentMsat ? budget.amountMsat - spentMsat : 0n;
  // The message names the narrower of the two limits. What remains is always the budget's.
  if (maxPaymentMsat !== null && amountMsat > maxPaymentMsat && maxPaymentMsat <= leftMsat) {
    throw overBudget(
      `By max_payment a payment with these credentials may cost at most ${formatAmountMsat(maxPaymentMsat)} sats with its fees, and this one up to ${formatAmountMsat(amountMsat)}.`,
      leftMsat,
    );
  }
  if (amountMsat > leftMsat) {
    throw overBudget(
      `The budget of these credentials has ${formatAmountMsat(leftMsat)} sats left for this ${budget.period === 'total' ? 'client' : budget.period}, and this payment may cost up to ${formatAmountMsat(amountMsat)} with its fees.`,
      leftMsat,
    );
  }
}

/** The rules of budgets, which the store runs where it reserves and counts. */
export const budgetRules: BudgetRules = { periodStart, requireWithinBudget };

function overBudget(message: string, remainingMsat: bigint): ApiError {
  return new ApiError('overBudget', message, {
    data: { remaining: formatAmountMsat(remainingMsat) },
  });
}
