import { hex } from '@scure/base';
import { decodeOffer, type Offer } from '../../codecs/bolt12/index.ts';
import { formatAmountMsat } from '../../model/amount.ts';
import { keptDescription } from '../../model/description.ts';
import { rejected } from '../../model/errors.ts';
import { type FeePolicy, feeCapMsat } from '../../model/fee-cap.ts';
import { type SendWords, sendWords } from '../../model/payment.ts';
import { paymentId } from '../../model/payment-index.ts';
import { readOrReject } from '../../model/read-or-error.ts';
import type { EffectNames } from '../session/effect-names.ts';
import { nodeGroup, type OnNode } from '../session/session.ts';
import { offerObstacle, requireNone } from '../strings/obstacles.ts';
import { withoutLightningScheme } from '../strings/payment-string.ts';
import { amountField } from './agreed-amount.ts';
import { fetchOfferInvoice, type OfferWish } from './offer-invoice.ts';
import type { SendPlan, UnfetchedPlan } from './send-plan.ts';

/** A request to pay a BOLT 12 offer. */
interface OfferPaymentRequest extends OfferWish, SendWords {
  readonly maxFeeMsat: bigint | null;
  /** Aborted when the caller has gone or may not pay any more: the invoice is not asked for then. */
  readonly signal: AbortSignal;
}

/**
 * Reads an offer from a request. Throws error 110 when the node has no offers, and error 7 for `offer` when it is not a
 * valid one.
 */
export function readOffer(text: string, session: OnNode): Offer {
  nodeGroup(session, 'offers');
  return readOrReject('offer', () => decodeOffer(withoutLightningScheme(text)));
}

/**
 * Checks the payment of an offer and sets its fee cap. Its invoice is fetched when it is sent, by the node itself where
 * that pays offers in one step. Throws errors 7, 106 and 110. Sends
 * nothing.
 */
export function planOfferPayment(
  request: OfferPaymentRequest,
  session: OnNode,
  fees: FeePolicy,
  names: EffectNames,
): SendPlan | UnfetchedPlan {
  const offers = nodeGroup(session, 'offers');
  const { offer, amountMsat, message } = request;
  const words = sendWords(request);
  requireNone(offerObstacle(offer, session.node));
  if (offer.amountMsat !== null && amountMsat < offer.amountMsat) {
    throw rejected(
      amountField(request),
      `the offer asks for at least ${formatAmountMsat(offer.amountMsat)} sats`,
    );
  }
  if (request.ofPrice && words.refundOf) {
    throw rejected('amount', 'is required of a refund, since the issuer of the offer names it');
  }
  const maxFeeMsat = feeCapMsat(amountMsat, request.maxFeeMsat, fees);
  const terms = {
    // An offer can be paid many times, so each payment has an id of its own.
    id: paymentId('fs', hex.encode(names.bytes('payment'))),
    rail: 'offer',
    amountMsat,
    maxFeeMsat,
    again: 'never',
    details: {
      offerId: offer.offerId,
      description: keptDescription(offer.description),
      message,
      ...words,
    },
  } as const;
  if (offers.kind === 'whole') {
    const order = { offer, amountMsat, maxFeeMsat, message, ...words };
    return {
      ...terms,
      repeat: { maxFeeMsat, offer: offer.text },
      sign: null,
      start: (identity) => offers.payOffer({ ...identity, ...order }),
    };
  }
  return {
    ...terms,
    async fetch() {
      const invoice = await fetchOfferInvoice(session, offers, request, request.signal);
      const { amountMsat } = invoice;
      const maxFeeMsat = feeCapMsat(amountMsat, request.maxFeeMsat, fees);
      return {
        ...terms,
        ...{ amountMsat, maxFeeMsat },
        details: { ...terms.details, hash: invoice.paymentHash },
        repeat: { maxFeeMsat },
        fetchedInvoice: invoice.text,
        sign: null,
        start: (identity) => offers.payFetched({ ...identity, invoice, maxFeeMsat, ...words }),
      };
    },
  };
}
