/** An exact number above zero: `digits` divided by ten to the power of `decimals`. */
export interface Decimal {
  readonly digits: bigint;
  readonly decimals: number;
}

/** No price needs more digits, and no rate: some services divide, and write what comes out. */
const DECIMAL = /^(?:0|[1-9]\d{0,14})(?:\.\d{1,31})?$/;
/** The same as JSON Schema shows it. */
export const DECIMAL_PATTERN = DECIMAL.source;

/**
 * Reads a decimal text: no sign, no exponent, no leading zeros, at most 15 digits before the point and 31 after it.
 * Returns null for every other text, and for zero.
 */
export function parseDecimal(text: string): Decimal | null {
  if (!DECIMAL.test(text)) return null;
  const [whole = '', decimals = ''] = text.split('.');
  const digits = BigInt(whole + decimals);
  return digits === 0n ? null : { digits, decimals: decimals.length };
}

/** Writes a decimal with at least `least` digits after the point, and no other zeros at its end. */
export function formatDecimal({ digits, decimals }: Decimal, least = 0): string {
  const text = String(digits).padStart(decimals + 1, '0');
  const whole = text.slice(0, text.length - decimals);
  const fraction = text.slice(whole.length).replace(/0+$/, '').padEnd(least, '0');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Returns the digits of a decimal as if it had that many decimals, which must not be fewer than it has. */
export function scaled({ digits, decimals }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(to - decimals);
}
