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

/** Returns a price for people, such as `€12.50`, with all decimals that it has. */
export function priceText({ currency, amount }: Price): string {
  const style = { style: 'currency', currency } as const;
  const usual = new Intl.NumberFormat(undefined, style).resolvedOptions().minimumFractionDigits;
  const decimals = amount.split('.')[1]?.length ?? 0;
  const minimumFractionDigits = Math.max(usual ?? 0, decimals);
  const format = new Intl.NumberFormat(undefined, { ...style, minimumFractionDigits });
  return format.format(amount as Intl.StringNumericLiteral);
}

/** Returns about how many millisatoshis a price is worth where one bitcoin costs `rate`, in whole sats. */
export function aboutMsat(price: string, rate: string): bigint {
  return BigInt(Math.round((Number(price) / Number(rate)) * SATS_PER_BTC)) * 1000n;
}

const SATS_PER_BTC = 1e8;
