import { expect, test } from 'bun:test';
import type { Budget, BudgetPeriod } from '../../src/model/clients/budget.ts';
import type { BudgetState } from '../../src/model/clients/client.ts';
import { ApiError, ERRORS } from '../../src/model/errors.ts';
import { FEE_HEADROOM, requireWithinBudget } from '../../src/wallet/budget/budget.ts';

const of = (amountMsat: bigint, change: Partial<Budget> = {}): Budget => ({
  amountMsat,
  period: 'day',
  maxPaymentMsat: null,
  ...change,
});

/** Null when the client may spend; otherwise the error's code and the amount that it says is left. */
function over(
  amountMsat: bigint,
  budget: Budget | null,
  { spentMsat = 0n, budgetState = 'set' as BudgetState } = {},
) {
  try {
    requireWithinBudget({ budgetState, budget, spentMsat }, amountMsat);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [ERRORS[error.kind].code, (error.data as { remaining: string }).remaining];
  }
}

test('a client whose budget is missing spends nothing, not even nothing', () => {
  expect(over(1n, null)).toEqual([109, '0']);
  expect(over(0n, null)).toEqual([109, '0']);
});

test('a client that never had a budget, or whose budget was lifted, is not bounded', () => {
  expect(over(10n ** 18n, null, { budgetState: 'none' })).toBeNull();
  expect(over(10n ** 18n, null, { budgetState: 'lifted' })).toBeNull();
});

test('a budget can be spent to the last millisatoshi and not one beyond', () => {
  expect(over(1000n, of(1000n))).toBeNull();
  expect(over(1001n, of(1000n))).toEqual([109, '1']);
  expect(over(400n, of(1000n), { spentMsat: 600n })).toBeNull();
  expect(over(401n, of(1000n), { spentMsat: 600n })).toEqual([109, '0.4']);
});

test('a budget that was lowered below what is spent has nothing left, and no debt', () => {
  expect(over(1n, of(1000n), { spentMsat: 3000n })).toEqual([109, '0']);
});

test('one payment may cost up to max_payment and no more, however much is left', () => {
  const budget = of(10_000n, { maxPaymentMsat: 2000n });
  expect(over(2000n, budget)).toBeNull();
  expect(over(2001n, budget)).toEqual([109, '10']);
});

test('max_payment does not lift what the period allows', () => {
  const budget = of(10_000n, { maxPaymentMsat: 2000n });
  expect(over(2000n, budget, { spentMsat: 9000n })).toEqual([109, '1']);
});

test('what is told to be left is the rest of the budget, whichever limit refuses', () => {
  const budget = of(10_000n, { maxPaymentMsat: 2000n });
  expect(over(2001n, budget, { spentMsat: 9000n })).toEqual([109, '1']);
  expect(over(2001n, budget, { spentMsat: 8000n })).toEqual([109, '2']);
  expect(over(2001n, budget, { spentMsat: 10_000n })).toEqual([109, '0']);
  expect(over(20_000n, budget)).toEqual([109, '10']);
  expect(over(2001n, budget, { spentMsat: 5000n })).toEqual([109, '5']);
});

test('the message says what is left, for which period, and what the payment may cost', () => {
  const said = (period: BudgetPeriod) => {
    try {
      requireWithinBudget(
        { budgetState: 'set', budget: of(5000n, { period }), spentMsat: 1000n },
        4500n,
      );
      return '';
    } catch (error) {
      return (error as ApiError).message;
    }
  };
  expect(said('week')).toContain('4 sats left for this week');
  expect(said('week')).toContain('4.5');
  expect(said('total')).toContain('left for this client');
});

test('the error names the limit in force: of one payment where that is the narrower, or as narrow', () => {
  const messageOf = (amountMsat: bigint, budget: Budget | null) => {
    try {
      requireWithinBudget({ budgetState: 'set', budget, spentMsat: 0n }, amountMsat);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const most = (maxPaymentMsat: bigint) => of(3000n, { maxPaymentMsat });
  expect(messageOf(4000n, most(2000n))).toBe(
    'By max_payment a payment with these credentials may cost at most 2 sats with its fees, and this one up to 4.',
  );
  expect(messageOf(4000n, most(3000n))).toMatch(/may cost at most 3 sats/);
  expect(messageOf(4000n, most(3001n))).toMatch(/has 3 sats left for this day/);
  expect(messageOf(4000n, of(3000n, { period: 'total' }))).toMatch(/left for this client/);
  expect(messageOf(1n, null)).toMatch(/missing from the database.*set it again/);
});

test('an on-chain fee may reach twice its estimate', () => {
  expect(FEE_HEADROOM).toBe(2n);
});
