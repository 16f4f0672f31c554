import { ApiError, refused } from '../../model/errors.ts';
import {
  msatOfPrice,
  type PaymentPrice,
  type Price,
  type Rate,
  wholePrice,
} from '../../model/prices/price.ts';
import type { Rates } from '../../net/rates.ts';
import type { EffectNames } from '../session/effect-names.ts';
import type { OnNode } from '../session/session.ts';

export type { Rates } from '../../net/rates.ts';

/** For how long a price binds, in seconds: the amount of an older one has to be computed again. */
export const PRICE_BINDS_SECS = 300;

/** The amount of a price in millisatoshis, and the price as a payment keeps it. */
interface PricedAmount {
  readonly amountMsat: bigint;
  readonly price: PaymentPrice;
}

/** What one bitcoin costs now. Throws error 113, and error 110 where the sidecar has no sources of rates. */
export async function currentRate(
  { node }: OnNode,
  rates: Rates | null,
  currency: string,
): Promise<Rate> {
  if (rates !== null) return rates.of(currency);
  throw new ApiError(
    'unsupported',
    'This sidecar knows no rates of currencies: start it with --rate-source, or give an amount in sats.',
    { data: { node: node.descriptor.kind } },
  );
}

/**
 * Returns the amount of a price, rounded up, and the price as the payment keeps it. With a key the rate is stored
 * before anything is made of it, so that a repeat asks for the same amount; a repeat of a request that was cut off
 * longer ago than a price binds is error 106 (docs/decisions.md 197).
 */
export async function pricedAmount(
  session: OnNode,
  rates: Rates | null,
  given: Price,
  names: EffectNames,
): Promise<PricedAmount> {
  const { clock } = session.node;
  const kept = await names.kept('price', async () =>
    JSON.stringify({ ...(await currentRate(session, rates, given.currency)), at: clock.now() }),
  );
  const { at, ...rate }: Rate & { readonly at: number } = JSON.parse(kept);
  if (clock.now() - at >= PRICE_BINDS_SECS * 1000) {
    throw refused(
      'The rate of this request is older than 5 minutes, and no invoice was answered: ask again with another Idempotency-Key.',
    );
  }
  return atRate(given, rate, 'payee');
}

/**
 * Returns the amount of a price that is paid, rounded down, and the price as the payment keeps it. The rate is not
 * stored for a repeat: what was begun has its amount, and where nothing was begun, a repeat is asked at its own rate.
 */
export async function amountToPay(
  session: OnNode,
  rates: Rates | null,
  given: Price,
): Promise<PricedAmount> {
  return atRate(given, await currentRate(session, rates, given.currency), 'payer');
}

function atRate(given: Price, rate: Rate, side: 'payee' | 'payer'): PricedAmount {
  const price = { ...wholePrice(given), ...rate };
  return { amountMsat: msatOfPrice(price, rate.rate, side), price };
}
