import type { BudgetPeriod } from '../model/clients/budget.ts';
import type { PeriodStart } from './ports.ts';

/**
 * What a client has spent and reserved, in millisatoshis, by the start of the period in milliseconds. The sums stand in
 * the row of its budget, so that a budget without its sums is no budget (docs/decisions.md 67, 171).
 */
export type BudgetSums = ReadonlyMap<number, bigint>;

/**
 * How many periods are kept. What older ones had is added to the oldest of them: a clock that is set back so far then
 * finds too much spent, and never too little.
 */
const KEPT_PERIODS = 16;

/** An amount at a time, as a row of spending holds it. */
export interface SpentAt {
  readonly atMs: number;
  readonly amountMsat: bigint;
}

/** Returns the sums of these amounts. */
export function sumsOf(
  spending: Iterable<SpentAt>,
  period: BudgetPeriod,
  periodStart: PeriodStart,
): BudgetSums {
  const sums = new Map<number, bigint>();
  for (const { atMs, amountMsat } of spending) {
    const startsAtMs = periodStart(period, atMs);
    sums.set(startsAtMs, (sums.get(startsAtMs) ?? 0n) + amountMsat);
  }
  return sums;
}

/** Returns the sums with an amount added to that of its period; it may be negative. */
export function withAdded(
  sums: BudgetSums,
  { atMs, amountMsat }: SpentAt,
  period: BudgetPeriod,
  periodStart: PeriodStart,
): BudgetSums {
  const startsAtMs = periodStart(period, atMs);
  return new Map(sums).set(startsAtMs, (sums.get(startsAtMs) ?? 0n) + amountMsat);
}

/** Returns what was spent and reserved in the period that starts at `startsAtMs` and in all later ones. */
export function spentSince(sums: BudgetSums, startsAtMs: number): bigint {
  return [...sums].reduce((total, [at, sum]) => (at >= startsAtMs ? total + sum : total), 0n);
}

/** Encodes the sums of the newest periods as JSON: pairs of start and decimal text. */
export function encodeSums(sums: BudgetSums): string {
  const kept: [number, bigint][] = [];
  for (const [startsAtMs, sum] of [...sums].sort(([a], [b]) => b - a)) {
    const oldest = kept[KEPT_PERIODS - 1];
    if (oldest) oldest[1] += sum;
    else kept.push([startsAtMs, sum]);
  }
  return JSON.stringify(kept.map(([startsAtMs, sum]) => [startsAtMs, `${sum}`]));
}

/** Decodes what {@link encodeSums} returned. */
export function decodeSums(json: string): BudgetSums {
  const pairs = JSON.parse(json) as [number, string][];
  return new Map(pairs.map(([startsAtMs, sum]) => [startsAtMs, BigInt(sum)]));
}
