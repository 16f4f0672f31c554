import { z } from 'zod';

/** Millisatoshis in one satoshi. */
export const MSAT_PER_SAT = 1000n;

/** 21 million BTC in millisatoshis, the largest amount accepted (decisions section 3). */
export const MAX_AMOUNT_MSAT = 21_000_000n * 100_000_000n * MSAT_PER_SAT;

const AMOUNT_PATTERN = /^\d{1,16}(?:\.\d{1,3})?$/;

/**
 * Reads an amount in satoshis with up to three decimals (contract, Conventions), and returns it in
 * millisatoshis, or null when the text is not such an amount or is above 21 million BTC.
 */
export function parseAmountMsat(text: string): bigint | null {
  if (!AMOUNT_PATTERN.test(text)) return null;
  const [whole = '', decimals = ''] = text.split('.');
  const amountMsat = BigInt(whole) * MSAT_PER_SAT + BigInt(decimals.padEnd(3, '0'));
  return amountMsat <= MAX_AMOUNT_MSAT ? amountMsat : null;
}

/** Writes millisatoshis as satoshis in canonical form: no exponent, no trailing zeros (decisions section 3). */
export function formatAmountMsat(amountMsat: bigint): string {
  const sign = amountMsat < 0n ? '-' : '';
  const absolute = amountMsat < 0n ? -amountMsat : amountMsat;
  const whole = absolute / MSAT_PER_SAT;
  const rest = absolute % MSAT_PER_SAT;
  if (rest === 0n) return `${sign}${whole}`;
  return `${sign}${whole}.${rest.toString().padStart(3, '0').replace(/0+$/, '')}`;
}

/** {@link formatAmountMsat}, null staying null. */
export function formatNullableAmountMsat(amountMsat: bigint | null): string | null {
  return amountMsat === null ? null : formatAmountMsat(amountMsat);
}

/** Whole satoshis of an amount, rounded down: what an output on chain can hold. */
export function wholeSats(amountMsat: bigint): bigint {
  return amountMsat / MSAT_PER_SAT;
}

/**
 * An amount in a request: a JSON string of satoshis with up to three decimals, or a whole JSON number.
 * Parsed to millisatoshis.
 */
export const amountInput = z
  .union([z.string(), z.number()])
  .transform((value, context): bigint => {
    const text = typeof value === 'number' && !Number.isSafeInteger(value) ? '' : String(value);
    const amountMsat = parseAmountMsat(text);
    if (amountMsat !== null) return amountMsat;
    context.issues.push({
      code: 'custom',
      input: value,
      message:
        'must be satoshis as a string of decimal digits with up to three decimals, such as "1000" or "0.5", at most 21 million BTC',
    });
    return z.NEVER;
  })
  .meta({ description: 'Amount in satoshis, up to three decimals.', examples: ['1000'] });

/** {@link amountInput}, above zero. */
export const positiveAmountInput = amountInput.refine((amountMsat) => amountMsat > 0n, {
  message: 'must be above zero',
});

/** An amount in an answer: canonical satoshis as a string. */
export const amountOutput = z
  .string()
  .regex(/^-?\d+(\.\d{1,3})?$/)
  .meta({ description: 'Amount in satoshis, up to three decimals.', examples: ['1000'] });
