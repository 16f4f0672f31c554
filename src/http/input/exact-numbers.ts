/** Texts that cannot hold a number with too many digits are not searched: fifteen digits are always exact. */
const MANY_DIGITS = /[\d.]{16}/;

/** Stands in a parsed text for a number that a JavaScript number does not hold exactly. No schema accepts it. */
export const INEXACT = Symbol('a number with too many digits');

/**
 * Parses a JSON text. A number with more digits than a JavaScript number holds would be rounded without a sign, which
 * must not happen to an amount (docs/decisions.md 20), so {@link INEXACT} takes its place. Throws SyntaxError.
 */
export function parseExact(json: string): unknown {
  return MANY_DIGITS.test(json) ? JSON.parse(json, withMark as Revive) : JSON.parse(json);
}

/** What JSON.parse calls for each value. The types of this runtime do not know the third argument (ECMAScript 2026). */
type Revive = (key: string, value: unknown) => unknown;

function withMark(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || !Number.isFinite(value)) return value;
  return digitsOf(source) === digitsOf(String(value)) ? value : INEXACT;
}

/**
 * The significant digits without sign, point, exponent, and zeros at either end. A number is exact when the runtime
 * writes it with the same ones. The zeros are counted, since an expression takes quadratic time for many of them.
 */
function digitsOf(literal: string): string {
  const digits = literal.replace(/[eE].*$/, '').replace(/[-.]/g, '');
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return digits.slice(start, end);
}
