import { expect, test } from 'bun:test';
import { type BudgetPeriod, budgetWindow, isLow } from '../../src/model/clients/budget.ts';

const utc = (text: string): number => Date.parse(`${text}Z`);

/** Each with its first moment, and the first one after it. 1 January 2024 is a Monday. */
const WINDOWS: readonly [BudgetPeriod, from: string, to: string][] = [
  ['day', '2024-02-29T00:00', '2024-03-01T00:00'],
  ['week', '2024-01-01T00:00', '2024-01-08T00:00'],
  ['week', '2024-02-26T00:00', '2024-03-04T00:00'],
  ['week', '2024-12-30T00:00', '2025-01-06T00:00'],
  ['month', '2024-02-01T00:00', '2024-03-01T00:00'],
  ['month', '2024-12-01T00:00', '2025-01-01T00:00'],
];

test.each(WINDOWS)(
  'a period of one %p from %p ends at %p (UTC), and has every moment between',
  (period, from, to) => {
    const [startsAtMs, resetsAtMs] = [utc(from), utc(to)];
    const window = { startsAtMs, resetsAtMs };
    for (let atMs = startsAtMs; atMs < resetsAtMs; atMs += 3_600_000) {
      expect(budgetWindow(period, atMs)).toEqual(window);
    }
    expect(budgetWindow(period, resetsAtMs - 1)).toEqual(window);
    expect(budgetWindow(period, startsAtMs - 1).resetsAtMs).toBe(startsAtMs);
    expect(budgetWindow(period, resetsAtMs).startsAtMs).toBe(resetsAtMs);
  },
);

test('a budget for all time never begins anew', () => {
  expect(budgetWindow('total', utc('2024-02-29T12:00'))).toEqual({
    startsAtMs: 0,
    resetsAtMs: null,
  });
});

test('a budget is low once a fifth of it or less is left, also where too much is spent', () => {
  const budget = { amountMsat: 1_000n, period: 'day', maxPaymentMsat: null } as const;
  expect([0n, 799n, 800n, 801n, 1_000n, 1_200n].map((spent) => isLow(budget, spent))).toEqual([
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
});
