import { formatAmountMsat } from '../model/amount.ts';
import { ApiError } from '../model/errors.ts';
import type { BudgetStanding } from '../store/ports.ts';

/** How far a fee on chain may rise between its estimate and the transaction, for clients with a budget. */
export const FEE_HEADROOM = 2n;

/**
 * Whether a client may reserve an amount with its fees (decisions section 7). A budget fails closed: a client that has
 * one and whose row is missing spends nothing. Throws `overBudget`.
 */
export function requireWithinBudget(standing: BudgetStanding, amountMsat: bigint): void {
  const { budgetState, budget, spentMsat } = standing;
  if (budgetState !== 'set') return;
  if (budget === null) {
    throw overBudget(
      'The budget of these credentials is missing from the database, so they may not spend: the wallet owner must set it anew.',
      0n,
    );
  }
  const { maxPaymentMsat } = budget;
  const leftMsat = budget.amountMsat > spentMsat ? budget.amountMsat - spentMsat : 0n;
  // What is told is the narrower of both bounds: a payment of as much must fit.
  if (maxPaymentMsat !== null && amountMsat > maxPaymentMsat && maxPaymentMsat <= leftMsat) {
    throw overBudget(
      `A payment with these credentials may cost at most ${formatAmountMsat(maxPaymentMsat)} sats with its fees.`,
      maxPaymentMsat,
    );
  }
  if (amountMsat > leftMsat) {
    throw overBudget(
      `The budget of these credentials has ${formatAmountMsat(leftMsat)} sats left for this ${budget.period === 'total' ? 'client' : budget.period}, and this payment may cost up to ${formatAmountMsat(amountMsat)} with its fees.`,
      leftMsat,
    );
  }
}

function overBudget(message: string, remainingMsat: bigint): ApiError {
  return new ApiError('overBudget', message, {
    data: { remaining: formatAmountMsat(remainingMsat) },
  });
}
