import type { Payment } from '../../client/index.ts';

/** The longest string that is shown whole: an address on chain, or a name. */
const MOST_SHOWN = 90;

/** Returns whether a string is shown whole. */
export function isShort(value: string): boolean {
  return value.length <= MOST_SHOWN;
}

/** Returns both ends of a long string, by which people compare it. */
export function shortened(value: string): string {
  return isShort(value) ? value : `${value.slice(0, 16)} … ${value.slice(-16)}`;
}

/** Returns the string by which a payment names who is paid; null where it names nobody. */
export function recipientOf({
  address,
  invoice,
  offer_id,
}: Pick<Payment, 'address' | 'invoice' | 'offer_id'>): string | null {
  return address ?? invoice ?? offer_id;
}
