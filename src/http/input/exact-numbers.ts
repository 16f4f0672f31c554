/** Texts that cannot hold a number with too many digits are not searched: fifteen digits are always exact. */
const MANY_DIGITS = /[\d.]{16}/;
/** A string without its end reaches to the end of the text: no character is looked at twice. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\[\s\S])*(?:"|$)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Returns whether JSON.parse keeps every number of a JSON text exactly. One with more digits than a JavaScript number
 * holds is rounded without a sign, which must not happen to an amount (docs/decisions.md 20).
 */
export function hasExactNumbers(json: string): boolean {
  if (!MANY_DIGITS.test(json)) return true;
  for (const [token] of json.matchAll(STRING_OR_NUMBER)) {
    if (!token.startsWith('"') && !isExact(token)) return false;
  }
  return true;
}

/** A number is exact when it is written with as many significant digits as the runtime writes it with, or fewer. */
function isExact(literal: string): boolean {
  return digitsOf(literal) === digitsOf(String(Number(literal)));
}

/** The significant digits without sign, point, exponent, and zeros at either end. */
function digitsOf(literal: string): string {
  return literal
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
}
