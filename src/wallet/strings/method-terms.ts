import type { DecodedAddress } from '../../codecs/address.ts';
import type { Bolt11Invoice } from '../../codecs/bolt11/index.ts';
import type { Offer } from '../../codecs/bolt12/index.ts';
import type { PaymentPrice } from '../../model/prices/price.ts';
import type { LnurlPayRequest, LnurlWithdrawRequest } from '../../net/lnurl.ts';
import type { OfferPrice } from './offer-price.ts';

interface MethodTerms {
  /** The method alone, encoded in its canonical form. */
  readonly text: string;
  readonly description: string | null;
  /** The exact amount asked for; null when the payer chooses within the bounds. */
  readonly amountMsat: bigint | null;
  /** Whether the amount is not part of `text`, so that a callback must carry it. */
  readonly amountBeside: boolean;
  readonly minMsat: bigint | null;
  readonly maxMsat: bigint | null;
  readonly expiresAtMs: number | null;
}

/** A way to pay that the wallet's node supports, with its terms. */
export type PayMethod = MethodTerms &
  (
    | {
        readonly kind: 'offer';
        readonly offer: Offer;
        readonly viaName: string | null;
        /** Of an offer in a currency; `minMsat` is its worth then. */
        readonly price: PaymentPrice | null;
      }
    | { readonly kind: 'invoice'; readonly invoice: Bolt11Invoice }
    | { readonly kind: 'lnurl-pay'; readonly request: LnurlPayRequest }
    | { readonly kind: 'onchain'; readonly address: DecodedAddress }
  );

/** An LNURL-withdraw service from which the wallet can withdraw, with its terms. */
export type ClaimMethod = MethodTerms & { readonly request: LnurlWithdrawRequest };

/** The terms of a URI for all its methods, but for their own descriptions (docs/decisions.md 96). */
export interface UriTerms {
  readonly amountMsat: bigint | null;
  readonly description: string | null;
}

function termsOf(text: string, own: string | null, uri: UriTerms) {
  return {
    text,
    description: own || uri.description,
    amountMsat: uri.amountMsat,
    amountBeside: uri.amountMsat !== null,
    minMsat: null,
    maxMsat: null,
    expiresAtMs: null,
  };
}

/** Returns the terms of an offer, and its price in a currency. Its amount is the least that it accepts (BOLT 12). */
export function offerTerms(
  offer: Offer,
  viaName: string | null,
  uri: UriTerms,
  priced: OfferPrice | null,
): PayMethod {
  const { text, description, absoluteExpirySecs } = offer;
  return {
    ...termsOf(text, description, uri),
    kind: 'offer',
    offer,
    viaName,
    price: priced?.price ?? null,
    minMsat: priced?.amountMsat ?? offer.amountMsat,
    expiresAtMs: absoluteExpirySecs === null ? null : absoluteExpirySecs * 1000,
  };
}

/** Returns the terms of an invoice. Its own amount takes precedence over the URI's. */
export function invoiceTerms(invoice: Bolt11Invoice, uri: UriTerms): PayMethod {
  const { text, description, amountMsat, expiresAtMs } = invoice;
  const shared = {
    ...termsOf(text, description, uri),
    kind: 'invoice',
    invoice,
    expiresAtMs,
  } as const;
  return amountMsat === null ? shared : { ...shared, amountMsat, amountBeside: false };
}

/** Returns the terms of an address. */
export function addressTerms(address: DecodedAddress, uri: UriTerms): PayMethod {
  return { ...termsOf(address.canonical, null, uri), kind: 'onchain', address };
}

/**
 * Returns the terms of an LNURL-pay service. The caller checks that the URI's amount is within its limits. A fixed
 * price is told as the amount; it is not part of the LNURL, and the service may name another one later.
 */
export function lnurlPayTerms(text: string, request: LnurlPayRequest, uri: UriTerms): PayMethod {
  const { minSendableMsat: minMsat, maxSendableMsat: maxMsat } = request;
  const own = request.longDescription ?? request.description;
  const shared = {
    ...termsOf(text, own, uri),
    kind: 'lnurl-pay',
    request,
    minMsat,
    maxMsat,
  } as const;
  return uri.amountMsat === null && minMsat === maxMsat
    ? { ...shared, amountMsat: minMsat, amountBeside: true }
    : shared;
}

/**
 * Returns the terms of an LNURL-withdraw service. The URI's amount leaves no other choice (docs/decisions.md 96); the
 * caller checks that it is within the service's limits.
 */
export function withdrawTerms(
  text: string,
  request: LnurlWithdrawRequest,
  uri: UriTerms,
): ClaimMethod {
  return {
    ...termsOf(text, request.defaultDescription, uri),
    request,
    minMsat: uri.amountMsat ?? request.minWithdrawableMsat,
    maxMsat: uri.amountMsat ?? request.maxWithdrawableMsat,
  };
}
