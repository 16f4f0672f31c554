import type { Price } from '../../client/index.ts';
import { ungrouped } from './sats.ts';

/**
 * Reads what a person typed as a price: digits, grouped as amounts in sats are, and decimals behind a point or a comma.
 * Returns decimal text for the API, which knows how many decimals the currency has; null for what is no price, or none
 * above zero.
 */
export function typedPrice(typed: string): string | null {
  const plain = ungrouped(typed).replace(/,(?=\d+$)/, '.');
  return /^(?:0|[1-9]\d{0,14})(?:\.\d{1,4})?$/.test(plain) && /[1-9]/.test(plain) ? plain : null;
}

/**
 * Returns whether a typed number of sats, or of a currency, means thousands to one person and a part to another, such
 * as `1.500` sats: what is sold would be a thousand times too cheap, or too dear.
 */
export function isUnclear(typed: string, unit: string): boolean {
  const mark = /^[1-9]\d{0,2}([.,])\d{3}$/.exec(typed.trim())?.[1];
  return mark === '.' || (mark === ',' && unit !== 'sats' && usualDecimals(unit) === 3);
}

/** Returns a price for people, such as `€12.50`, with all decimals that it has, written as amounts in sats are. */
export function priceText({ currency, amount }: Price): string {
  const decimals = amount.split('.')[1]?.length ?? 0;
  const minimumFractionDigits = Math.max(usualDecimals(currency), decimals);
  const style = { style: 'currency', currency, minimumFractionDigits } as const;
  return new Intl.NumberFormat('en', style).format(amount as Intl.StringNumericLiteral);
}

function usualDecimals(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().minimumFractionDigits ?? 0;
}

/** Returns about how many millisatoshis a price is worth where one bitcoin costs `rate`, in whole sats. */
export function aboutMsat(price: string, rate: string): bigint {
  return BigInt(Math.round((Number(price) / Number(rate)) * SATS_PER_BTC)) * 1000n;
}

const SATS_PER_BTC = 1e8;
