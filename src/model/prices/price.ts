import { z } from 'zod';
import { MAX_AMOUNT_MSAT } from '../../codecs/network.ts';
import { once } from '../../lib/once.ts';
import { MSAT_PER_SAT } from '../amount.ts';
import { rejected } from '../errors.ts';
import { DECIMAL_PATTERN, type Decimal, formatDecimal, parseDecimal } from './decimal.ts';

const MSAT_PER_BTC = 100_000_000n * MSAT_PER_SAT;

/** What something costs in a currency. */
export interface Price {
  /** A code of ISO 4217. */
  readonly currency: string;
  /** Decimal text with the decimals of the currency, such as `12.50`. */
  readonly amount: string;
}

/** What one bitcoin costs in a currency. */
export interface Rate {
  readonly currency: string;
  /** Decimal text. */
  readonly rate: string;
  /** When the oldest of the values that it is made of was read. */
  readonly rateAtMs: number;
  readonly rateSource: string;
}

/** A price with the rate by which its amount was computed, as a payment keeps it (docs/decisions.md 197). */
export type PaymentPrice = Price & Rate;

const currencies = once(() => new Set(Intl.supportedValuesOf('currency')));

/** Returns how many decimals a currency has; null for an unknown one, to which `Intl` would give two. */
export function decimalsOf(currency: string): number | null {
  if (!currencies().has(currency)) return null;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? null;
}

/** The code of a currency in a request. */
export const currencyInput = once(() =>
  z
    .string()
    .refine((code) => decimalsOf(code) !== null, {
      message: 'must be a currency of ISO 4217, such as EUR',
    })
    .meta({ description: 'Code of ISO 4217.', pattern: '^[A-Z]{3}$', examples: ['EUR'] }),
);

/** A price in a request. */
export const priceInput = once(() =>
  z
    .object({
      currency: currencyInput(),
      amount: z
        .string()
        .refine((text) => parseDecimal(text) !== null, {
          message: 'must be a decimal text above zero, such as "12.50"',
        })
        .meta({
          pattern: DECIMAL_PATTERN,
          not: { pattern: '^[0.]*$' },
          examples: ['12.50'],
          description: 'Decimal text.',
        }),
    })
    .check(({ value, issues }) => {
      const most = decimalsOf(value.currency) ?? 0;
      if ((parseDecimal(value.amount)?.decimals ?? 0) <= most) return;
      const message = `must have at most ${most} decimals, as ${value.currency} has`;
      issues.push({ code: 'custom', path: ['amount'], input: value.amount, message });
    })
    .meta({ id: 'Price', description: 'A price in a currency.' }),
);

/**
 * Returns the millisatoshis of a price, rounded once: for who receives it up to 1 msat, so that it is never less than
 * the price, and for who pays it down to 1 sat, so that it is never more, and can be paid on chain. Throws error 7
 * where that is nothing, or above 21 million BTC.
 */
export function msatOfPrice({ amount }: Price, rate: string, by: 'payee' | 'payer'): bigint {
  const price = requireDecimal(amount);
  const perBtc = requireDecimal(rate);
  const dividend = price.digits * MSAT_PER_BTC * 10n ** BigInt(perBtc.decimals);
  const divisor = perBtc.digits * 10n ** BigInt(price.decimals);
  const amountMsat =
    by === 'payee'
      ? (dividend + divisor - 1n) / divisor
      : (dividend / (divisor * MSAT_PER_SAT)) * MSAT_PER_SAT;
  if (amountMsat > 0n && amountMsat <= MAX_AMOUNT_MSAT) return amountMsat;
  throw rejected('price', 'must be worth something at the rate, and at most 21 million BTC');
}

/** Returns the price with all decimals of its currency. */
export function wholePrice({ currency, amount }: Price): Price {
  return { currency, amount: formatDecimal(requireDecimal(amount), decimalsOf(currency) ?? 0) };
}

function requireDecimal(text: string): Decimal {
  const read = parseDecimal(text);
  if (read === null) throw new TypeError('A price or rate that was checked is no decimal.');
  return read;
}
