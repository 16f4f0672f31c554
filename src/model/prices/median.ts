import { type Decimal, formatDecimal, scaled } from './decimal.ts';

/** How far apart the lowest and the highest source may be, in per cent of the lowest. */
const MOST_APART_PERCENT = 2n;

/** Returns whether all lie within 2 per cent of the lowest of them (docs/decisions.md 197). */
export function areTogether(values: readonly Decimal[]): boolean {
  const { sorted } = inOrder(values);
  const [lowest = 0n] = sorted;
  const highest = sorted.at(-1) ?? 0n;
  return highest * 100n <= lowest * (100n + MOST_APART_PERCENT);
}

/** Returns the median of at least one value as text; of an even number, exactly the middle between two. */
export function medianOf(values: readonly Decimal[]): string {
  const { sorted, decimals } = inOrder(values);
  const lower = sorted[(sorted.length - 1) >> 1] ?? 0n;
  const upper = sorted[sorted.length >> 1] ?? 0n;
  // Half of the sum has at most one decimal more.
  return formatDecimal({ digits: (lower + upper) * 5n, decimals: decimals + 1 });
}

function inOrder(values: readonly Decimal[]) {
  const decimals = Math.max(...values.map((value) => value.decimals));
  const sorted = values.map((value) => scaled(value, decimals));
  return { decimals, sorted: sorted.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)) };
}
