import {
  type Bolt12Invoice,
  decodeInvoice,
  type Offer,
  verifyOfferInvoice,
} from '../../codecs/bolt12/index.ts';
import { NETWORKS } from '../../codecs/network.ts';
import { readOrRefuse } from '../../model/read-or-error.ts';
import { nodeGroup, type OnNode } from '../session/session.ts';

/** What the payer of an offer wants. */
export interface OfferWish {
  readonly offer: Offer;
  readonly amountMsat: bigint;
  readonly message: string | null;
  /** The Human Bitcoin Address whose record holds the offer, without `₿`; null without one. */
  readonly viaName: string | null;
}

/**
 * Asks the issuer of an offer for an invoice and checks that it is what the payer wants (docs/decisions.md 40). Sends
 * nothing. Throws what `NodeOffers.fetchInvoice` throws, and `refused` when the invoice does not fit.
 */
export async function fetchOfferInvoice(
  session: OnNode,
  { offer, amountMsat, message, viaName }: OfferWish,
  signal: AbortSignal,
): Promise<Bolt12Invoice> {
  const { node } = session;
  const wish = { offer, amountMsat, message, viaName };
  const fetched = await nodeGroup(session, 'offers').fetchInvoice(wish, signal);
  return readOrRefuse(() => {
    const invoice = decodeInvoice(fetched);
    verifyOfferInvoice(invoice, {
      offer,
      amountMsat,
      chain: NETWORKS[node.descriptor.network].chainHash,
      payerNote: message,
      nowSecs: Math.floor(node.clock.now() / 1000),
    });
    return invoice;
  });
}
