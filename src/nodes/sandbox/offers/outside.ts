import type { Offer } from '../../../codecs/bolt12/index.ts';
import { refused, rejected } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import { arrive } from '../lightning/outside.ts';
import type { World } from '../world/world.ts';
import { fetchInvoice } from './offers.ts';

/** A payment of the outside world to a wallet's offer. */
export interface OutsideOfferPayment {
  readonly offer: Offer;
  /** Null pays the least amount that the offer accepts. */
  readonly amountMsat: bigint | null;
  readonly message: string | null;
  /** What the payer calls itself; null for nothing. */
  readonly payerName: string | null;
}

/**
 * Pays an offer of a wallet from the outside world: asks for an invoice, checks it and pays it, all or nothing. Returns
 * the wallet's payment. Throws `rejected` when neither the order nor the offer names an amount, and `refused` when no
 * wallet issued the offer or it cannot be paid in this way.
 */
export function payOfferFromOutside(world: World, order: OutsideOfferPayment): Payment {
  const { offer, message, payerName } = order;
  const amountMsat = order.amountMsat ?? leastMsat(offer);
  return world.transact(() => {
    const fetched = fetchInvoice(world, {
      offer,
      amountMsat,
      message,
      viaName: null,
      payerName,
      payerPk: null,
    });
    const userPk = fetched?.row.userPk ?? null;
    if (fetched === null || userPk === null) {
      throw refused('No wallet of this sandbox issued that offer; ask the wallet for an offer.');
    }
    return arrive(world, { ...fetched.row, userPk }, amountMsat);
  });
}

function leastMsat({ amountMsat }: Offer): bigint {
  if (amountMsat !== null) return amountMsat;
  throw rejected(
    'amount',
    'the offer leaves the amount to the payer: say how many satoshis to pay',
  );
}
