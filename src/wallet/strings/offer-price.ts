import type { Offer } from '../../codecs/bolt12/index.ts';
import { isApiError, refused } from '../../model/errors.ts';
import { formatDecimal, parseDecimal } from '../../model/prices/decimal.ts';
import {
  decimalsOf,
  msatOfPrice,
  type PaymentPrice,
  type Price,
} from '../../model/prices/price.ts';
import type { Rates } from '../../net/rates.ts';

/** What an offer in a currency costs, and what that is in millisatoshis at our rate. */
export interface OfferPrice {
  readonly price: PaymentPrice;
  readonly amountMsat: bigint;
}

/**
 * Returns what an offer in a currency costs now, rounded up to 1 msat; null for one in bitcoin. Throws error 106 where
 * that cannot be said, and error 113 where the sources of rates have none (docs/decisions.md 201).
 */
export async function offerPrice(offer: Offer, rates: Rates | null): Promise<OfferPrice | null> {
  const { currency, amount: digits } = offer;
  if (currency === null || digits === null) return null;
  if (rates === null) {
    throw refused(
      `The offer is priced in ${currency}, and this sidecar knows no rates of currencies: start it with --rate-source, or ask the issuer for an offer in bitcoin.`,
    );
  }
  const decimals = decimalsOf(currency);
  const amount = decimals === null ? '' : formatDecimal({ digits, decimals }, decimals);
  if (parseDecimal(amount) === null) throw notPayable(currency);
  const rate = await rates.of(currency);
  const price = { amount, ...rate };
  try {
    return { price, amountMsat: msatOfPrice(price, rate.rate, 'payee') };
  } catch (error) {
    throw isApiError(error, 'rejected') ? notPayable(currency) : error;
  }
}

/** Whether a price is given, and is that of an offer or payment. Both have all decimals of their currency. */
export function isSamePrice(
  given: Price | undefined | null,
  asked: Price | undefined | null,
): boolean {
  if (!given || !asked) return false;
  return given.currency === asked.currency && given.amount === asked.amount;
}

function notPayable(currency: string) {
  return refused(
    `The offer has a price in ${currency} that cannot be paid: ask the issuer for an offer in bitcoin.`,
  );
}
