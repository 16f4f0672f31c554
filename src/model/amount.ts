import { z } from 'zod';
import { MAX_AMOUNT_MSAT } from '../codecs/network.ts';
import { once } from '../lib/once.ts';

/** Millisatoshis in one satoshi. */
export const MSAT_PER_SAT = 1000n;

/**
 * Marks the text of an amount in the OpenAPI document. A `format` such as `decimal` would make generated clients read
 * amounts as floating point numbers (docs/decisions.md 167).
 */
const UNIT = { 'x-unit': 'sat' };

const MAX_SATS = MAX_AMOUNT_MSAT / MSAT_PER_SAT;
const DECIMALS = '(?:\\.\\d{1,3})?';
/** Matches exactly the texts of amounts from zero to the largest. */
const AMOUNT_PATTERN = `^(?:${wholeBelow(MAX_SATS)}${DECIMALS}|${MAX_SATS}(?:\\.0{1,3})?)$`;
const AMOUNT = new RegExp(AMOUNT_PATTERN);

/** Returns a pattern for the whole numbers below `limit`, with at most as many digits and with leading zeros. */
function wholeBelow(limit: bigint): string {
  const digits = String(limit);
  const sameLength = [...digits].flatMap((digit, at) => {
    const rest = digits.length - at - 1;
    if (digit === '0') return [];
    const lower = digit === '1' ? '0' : `[0-${Number(digit) - 1}]`;
    return [`${digits.slice(0, at)}${lower}${rest > 0 ? `\\d{${rest}}` : ''}`];
  });
  const shorter = digits.length > 1 ? [`\\d{1,${digits.length - 1}}`] : [];
  return `(?:${[...shorter, ...sameLength].join('|')})`;
}

/**
 * Reads an amount in satoshis with up to three decimals (docs/decisions.md 20). Returns it in millisatoshis, or null
 * when the text is not such an amount or is above 21 million BTC.
 */
export function parseAmountMsat(text: string): bigint | null {
  if (!AMOUNT.test(text)) return null;
  const [whole = '', decimals = ''] = text.split('.');
  return BigInt(whole) * MSAT_PER_SAT + BigInt(decimals.padEnd(3, '0'));
}

/** Writes millisatoshis as satoshis in canonical form: no exponent, no trailing zeros (docs/decisions.md 20). */
export function formatAmountMsat(amountMsat: bigint): string {
  const sign = amountMsat < 0n ? '-' : '';
  // Cutting the digits takes less than dividing.
  const digits = String(amountMsat < 0n ? -amountMsat : amountMsat).padStart(4, '0');
  const whole = sign + digits.slice(0, -3);
  return digits.endsWith('000') ? whole : `${whole}.${digits.slice(-3).replace(/0+$/, '')}`;
}

/** Writes an amount in sats that may be negative. */
export function formatSignedMsat(amountMsat: bigint): string {
  return amountMsat < 0n ? `-${formatAmountMsat(-amountMsat)}` : formatAmountMsat(amountMsat);
}

/** Returns what {@link formatAmountMsat} returns, and null for null. */
export function formatNullableAmountMsat(amountMsat: bigint | null): string | null {
  return amountMsat === null ? null : formatAmountMsat(amountMsat);
}

/** Returns an amount in whole satoshis, rounded down. An on-chain output holds only whole satoshis. */
export function wholeSats(amountMsat: bigint): bigint {
  return amountMsat / MSAT_PER_SAT;
}

/** The JSON Schema of a request's amounts, at least `leastMsat`: 0, 1 or a whole number of satoshis. */
function acceptedAmount(leastMsat: bigint): object {
  const leastSats = (leastMsat + MSAT_PER_SAT - 1n) / MSAT_PER_SAT;
  const below = leastMsat === 1n ? '0+(?:\\.0{1,3})?' : `0*${wholeBelow(leastSats)}${DECIMALS}`;
  return {
    anyOf: [
      {
        type: 'string',
        ...UNIT,
        pattern: AMOUNT_PATTERN,
        ...(leastMsat > 0n ? { not: { pattern: `^${below}$` } } : {}),
      },
      { type: 'integer', minimum: Number(leastSats), maximum: Number(MAX_SATS) },
    ],
  };
}

/**
 * An amount in a request: a JSON string of satoshis with up to three decimals, or a whole JSON number
 * (docs/decisions.md 20). It is parsed to millisatoshis.
 */
export const amountInput = once(() =>
  z
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
    .meta({ accepts: acceptedAmount(0n), examples: ['1000'] }),
);

/** Like {@link amountInput}, but above zero. */
export const positiveAmountInput = once(() =>
  amountInput()
    .refine((amountMsat) => amountMsat > 0n, { message: 'must be above zero' })
    .meta({ accepts: acceptedAmount(1n) }),
);

/** Like {@link amountInput}, but at least `leastSats` satoshis. */
export function amountInputFrom(leastSats: number) {
  const leastMsat = BigInt(leastSats) * MSAT_PER_SAT;
  return positiveAmountInput()
    .refine((amountMsat) => amountMsat >= leastMsat, {
      message: `must be at least ${leastSats} sats`,
    })
    .meta({ accepts: acceptedAmount(leastMsat), examples: [String(leastSats)] });
}

/** An amount in an answer: canonical satoshis as a string (docs/decisions.md 20). */
export const amountOutput = once(() =>
  z
    .string()
    .regex(/^(0|[1-9]\d*)(\.\d{0,2}[1-9])?$/)
    .meta({ ...UNIT, examples: ['1000'] }),
);
