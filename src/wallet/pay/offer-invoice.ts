import {
  type Bolt12Invoice,
  decodeInvoice,
  type Offer,
  verifyOfferInvoice,
} from '../../codecs/bolt12/index.ts';
import { NETWORKS } from '../../codecs/network.ts';
import { formatAmountMsat } from '../../model/amount.ts';
import { refused } from '../../model/errors.ts';
import { areTogether } from '../../model/prices/median.ts';
import type { Price } from '../../model/prices/price.ts';
import { readOrRefuse } from '../../model/read-or-error.ts';
import type { NodeFetchedOffers } from '../../nodes/node.ts';
import type { OnNode } from '../session/session.ts';

/** What the payer of an offer wants. */
export interface OfferWish {
  readonly offer: Offer;
  readonly amountMsat: bigint;
  /** Given where the issuer is to name the amount, which must be near `amountMsat` (docs/decisions.md 201). */
  readonly ofPrice?: Price | undefined;
  readonly message: string | null;
  /** The Human Bitcoin Address whose record holds the offer, without `₿`; null without one. */
  readonly viaName: string | null;
}

/**
 * Asks the issuer of an offer for an invoice and checks that it is what the payer wants (docs/decisions.md 40). Sends
 * nothing. Throws what `NodeFetchedOffers.fetchInvoice` throws, and `refused` when the invoice does not fit.
 */
export async function fetchOfferInvoice(
  { node }: OnNode,
  offers: NodeFetchedOffers,
  { offer, amountMsat, ofPrice, message, viaName }: OfferWish,
  signal: AbortSignal,
): Promise<Bolt12Invoice> {
  const askedMsat = ofPrice ? null : amountMsat;
  const wish = { offer, amountMsat: askedMsat, message, viaName };
  const fetched = await offers.fetchInvoice(wish, signal);
  return readOrRefuse(() => {
    const invoice = decodeInvoice(fetched);
    verifyOfferInvoice(invoice, {
      offer,
      amountMsat: askedMsat,
      chain: NETWORKS[node.descriptor.network].chainHash,
      payerNote: message,
      nowSecs: Math.floor(node.clock.now() / 1000),
    });
    if (ofPrice) requireNear(ofPrice, amountMsat, invoice.amountMsat);
    return invoice;
  });
}

/** Throws error 106 where an issuer counts at a rate that is more than 2 per cent from ours (docs/decisions.md 201). */
function requireNear({ amount, currency }: Price, oursMsat: bigint, theirsMsat: bigint): void {
  if (areTogether([oursMsat, theirsMsat].map((digits) => ({ digits, decimals: 0 })))) return;
  const [ours, theirs] = [oursMsat, theirsMsat].map(formatAmountMsat);
  throw refused(
    `The offer costs ${amount} ${currency}, which are ${ours} sats at the rate here, and its issuer asks for ${theirs} sats: they are more than 2 per cent apart. Try again later, or give an amount in sats.`,
  );
}
