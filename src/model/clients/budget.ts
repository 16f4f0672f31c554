import { z } from 'zod';
import { once } from '../../lib/once.ts';
import {
  amountOutput,
  formatAmountMsat,
  formatNullableAmountMsat,
  positiveAmountInput,
} from '../amount.ts';
import { timestamp } from '../text.ts';

/** The periods after which budgets renew (docs/decisions.md 66); `total` never renews. */
const BUDGET_PERIODS = ['day', 'week', 'month', 'total'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** The limits of what a client may spend, in millisatoshis, fees included (docs/decisions.md 66). */
export interface Budget {
  readonly amountMsat: bigint;
  readonly period: BudgetPeriod;
  /** The most that one payment may cost with its fees; null: only `amountMsat` limits it. */
  readonly maxPaymentMsat: bigint | null;
}

/** A budget is low once no more than one part in so many of it is left (docs/decisions.md 190). */
const LOW_PART = 5n;

/** Whether little is left of a budget when so much of it is spent and reserved. */
export function isLow({ amountMsat }: Budget, spentMsat: bigint): boolean {
  return (amountMsat - spentMsat) * LOW_PART <= amountMsat;
}

const periodField = once(() =>
  z
    .enum(BUDGET_PERIODS)
    .describe(
      'When the budget renews, in UTC: each midnight, Monday, first of the month, or never (`total`).',
    ),
);

/** A budget in a request (docs/decisions.md 66). An unknown field is error 7 (docs/decisions.md 18). */
export const budgetInput = once(() =>
  z
    .strictObject({
      amount: positiveAmountInput().describe(
        'Most that may be spent in one period, fees included, in sats.',
      ),
      period: periodField(),
      max_payment: positiveAmountInput()
        .optional()
        .describe('Most that one payment may cost with its fees, in sats.'),
    })
    .transform(
      (budget): Budget => ({
        amountMsat: budget.amount,
        period: budget.period,
        maxPaymentMsat: budget.max_payment ?? null,
      }),
    )
    .meta({
      id: 'BudgetInput',
      description: 'What a client may spend. An unknown member is error 7.',
    }),
);

/** A budget in an answer (docs/api.md, Client info). */
export const budgetJson = once(() =>
  z
    .object({
      amount: amountOutput().describe(
        'Most that may be spent in one period, fees included, in sats.',
      ),
      period: periodField(),
      max_payment: amountOutput()
        .nullable()
        .describe('Most that one payment may cost with its fees, in sats; null for no such limit.'),
      spent: amountOutput().describe('Spent and reserved in the current period, in sats.'),
      resets_at: timestamp()
        .nullable()
        .describe('When the current period ends, in milliseconds; null where it never does.'),
    })
    .meta({ id: 'Budget', description: 'What a client may spend, and has spent.', addition: true }),
);
export type BudgetJson = z.infer<ReturnType<typeof budgetJson>>;

/** Returns the period that contains `nowMs`, in UTC: days from midnight, weeks from Monday, months from the first. */
export function budgetWindow(
  period: BudgetPeriod,
  nowMs: number,
): { startsAtMs: number; resetsAtMs: number | null } {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (period) {
    case 'day':
      return { startsAtMs: Date.UTC(year, month, day), resetsAtMs: Date.UTC(year, month, day + 1) };
    case 'week': {
      const monday = day - ((now.getUTCDay() + 6) % 7);
      return {
        startsAtMs: Date.UTC(year, month, monday),
        resetsAtMs: Date.UTC(year, month, monday + 7),
      };
    }
    case 'month':
      return { startsAtMs: Date.UTC(year, month, 1), resetsAtMs: Date.UTC(year, month + 1, 1) };
    case 'total':
      return { startsAtMs: 0, resetsAtMs: null };
  }
}

/** Writes a budget and the amount spent of it in the form of answers. */
export function encodeBudget(budget: Budget, spentMsat: bigint, nowMs: number): BudgetJson {
  return {
    amount: formatAmountMsat(budget.amountMsat),
    period: budget.period,
    max_payment: formatNullableAmountMsat(budget.maxPaymentMsat),
    spent: formatAmountMsat(spentMsat),
    resets_at: budgetWindow(budget.period, nowMs).resetsAtMs,
  };
}
