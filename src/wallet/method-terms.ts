import type { DecodedAddress } from '../codecs/address.ts';
import type { Bolt11Invoice } from '../codecs/bolt11/index.ts';
import type { Offer } from '../codecs/bolt12/index.ts';
import type { LnurlPayRequest, LnurlWithdrawRequest } from '../net/lnurl.ts';

interface MethodTerms {
  /** The encoded method alone, in its canonical form. */
  readonly text: string;
  readonly description: string | null;
  /** Exact amount asked for; null when the sender chooses within the bounds. */
  readonly amountMsat: bigint | null;
  /** Whether the amount stands beside the method (in a BIP 321 URI) and not in it. */
  readonly amountFromUri: boolean;
  readonly minMsat: bigint | null;
  readonly maxMsat: bigint | null;
  readonly expiresAtMs: number | null;
}

/** A way to pay that the wallet's node can use. */
export type PayMethod = MethodTerms &
  (
    | { readonly kind: 'offer'; readonly offer: Offer; readonly viaName: string | null }
    | { readonly kind: 'invoice'; readonly invoice: Bolt11Invoice }
    | { readonly kind: 'lnurl-pay'; readonly request: LnurlPayRequest }
    | { readonly kind: 'onchain'; readonly address: DecodedAddress }
  );

/** Money that the wallet can withdraw. */
export type ClaimMethod = MethodTerms & { readonly request: LnurlWithdrawRequest };

/** What a URI says of all its methods (decisions section 13); a method's own description is nearer to it. */
export interface UriTerms {
  readonly amountMsat: bigint | null;
  readonly description: string | null;
}

/** Terms that are the same for most methods. */
function termsOf(text: string, own: string | null, uri: UriTerms) {
  return {
    text,
    description: own || uri.description,
    amountMsat: uri.amountMsat,
    amountFromUri: uri.amountMsat !== null,
    minMsat: null,
    maxMsat: null,
    expiresAtMs: null,
  };
}

/** An offer's terms: its amount is the least that it takes (BOLT 12). */
export function offerTerms(offer: Offer, viaName: string | null, uri: UriTerms): PayMethod {
  const { text, description, amountMsat: minMsat, absoluteExpirySecs } = offer;
  return {
    ...termsOf(text, description, uri),
    kind: 'offer',
    offer,
    viaName,
    minMsat,
    expiresAtMs: absoluteExpirySecs === null ? null : absoluteExpirySecs * 1000,
  };
}

/** An invoice's terms. */
export function invoiceTerms(invoice: Bolt11Invoice, uri: UriTerms): PayMethod {
  const { text, description, amountMsat, expiresAtMs } = invoice;
  const shared = {
    ...termsOf(text, description, uri),
    kind: 'invoice',
    invoice,
    expiresAtMs,
  } as const;
  return amountMsat === null ? shared : { ...shared, amountMsat, amountFromUri: false };
}

/** The terms of an address. */
export function addressTerms(address: DecodedAddress, uri: UriTerms): PayMethod {
  return { ...termsOf(address.canonical, null, uri), kind: 'onchain', address };
}

/** The terms of an LNURL-pay service; the URI's amount must lie within its limits. */
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
    ? { ...shared, amountMsat: minMsat }
    : shared;
}

/** The terms of an LNURL-withdraw service; a URI's amount is about paying, so it says nothing here. */
export function withdrawTerms(text: string, request: LnurlWithdrawRequest): ClaimMethod {
  const { minWithdrawableMsat: minMsat, maxWithdrawableMsat: maxMsat } = request;
  const uri = { amountMsat: null, description: null };
  return { ...termsOf(text, request.defaultDescription, uri), request, minMsat, maxMsat };
}
