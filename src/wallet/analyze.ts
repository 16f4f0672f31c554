import { decodeAddress } from '../codecs/address.ts';
import { type Bolt11Invoice, decodeBolt11 } from '../codecs/bolt11/index.ts';
import { decodeOffer, type Offer } from '../codecs/bolt12/index.ts';
import { CodecError } from '../codecs/codec-error.ts';
import { refused, rejected } from '../model/errors.ts';
import type { LnurlPayRequest, LnurlWithdrawRequest } from '../net/lnurl.ts';
import { serviceFailed } from '../net/service-error.ts';
import type { WalletNode } from '../nodes/node.ts';
import { invoiceObstacle } from './pay/invoice.ts';
import { offerObstacle } from './pay/offer.ts';
import { addressObstacle } from './pay/onchain.ts';
import type { PaymentServices } from './payment-services.ts';
import { type NamedMethod, type PaymentString, parsePaymentString } from './payment-string.ts';

interface MethodTerms {
  /** The encoded method alone. */
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
    | { readonly kind: 'offer'; readonly viaName: string | null }
    | { readonly kind: 'invoice' | 'onchain' }
    | { readonly kind: 'lnurl-pay'; readonly request: LnurlPayRequest }
  );

/** Money that the wallet can withdraw. */
export type ClaimMethod = MethodTerms & { readonly request: LnurlWithdrawRequest };

/** What a payment string offers to this wallet, the most recommended first. */
export interface Analysis {
  readonly payables: readonly PayMethod[];
  readonly claimables: readonly ClaimMethod[];
}

/** Order of recommendation (decisions section 13). */
const RECOMMENDATION = ['offer', 'invoice', 'lnurl-pay', 'onchain'] as const;

/**
 * Explains a payment string. Methods that cannot be paid are left out; when none is left throws error 106 that says
 * why, and error 7 for `path` when the text is no payment string at all.
 */
export async function analyze(
  text: string,
  path: string,
  node: WalletNode,
  services: PaymentServices,
  signal?: AbortSignal,
): Promise<Analysis> {
  const found = await resolve(readString(text, path), services);
  const payables: PayMethod[] = [];
  const claimables: ClaimMethod[] = [];
  const obstacles: string[] = [];
  let unreadable: CodecError | null = null;
  for (const method of found.methods) {
    try {
      const terms = await look(method, found, node, services, signal);
      if (typeof terms === 'string') obstacles.push(terms);
      else if ('kind' in terms) payables.push(terms);
      else claimables.push(terms);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      unreadable ??= error;
    }
  }
  if (payables.length + claimables.length > 0) {
    payables.sort((a, b) => RECOMMENDATION.indexOf(a.kind) - RECOMMENDATION.indexOf(b.kind));
    return { payables, claimables };
  }
  if (obstacles[0] !== undefined) throw refused(obstacles.join(' '));
  throw rejected(path, unreadable?.message ?? 'the payment string names no way to pay');
}

function readString(text: string, path: string): PaymentString {
  try {
    return parsePaymentString(text);
  } catch (error) {
    if (error instanceof CodecError) throw rejected(path, error.message);
    throw error;
  }
}

interface Found extends PaymentString {
  readonly viaName: string | null;
}

async function resolve(parsed: PaymentString, services: PaymentServices): Promise<Found> {
  if (parsed.name === null) return { ...parsed, viaName: null };
  const uri = await services.resolveName(parsed.name);
  const { username, domain } = parsed.name;
  try {
    return { ...parsePaymentString(uri), viaName: `${username}@${domain}` };
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    throw serviceFailed(
      'unusable_answer',
      `The record of this Human Bitcoin Address cannot be used: ${error.message}`,
      error,
    );
  }
}

/** A method's terms, or the sentence that says why it cannot be used. */
async function look(
  method: NamedMethod,
  found: Found,
  node: WalletNode,
  services: PaymentServices,
  signal: AbortSignal | undefined,
): Promise<PayMethod | ClaimMethod | string> {
  switch (method.kind) {
    case 'offer': {
      const offer = decodeOffer(method.text);
      return offerObstacle(offer, node) ?? offerTerms(offer, found);
    }
    case 'invoice': {
      const invoice = decodeBolt11(method.text);
      return (
        invoiceObstacle(invoice, node) ??
        amountConflict(invoice, found) ??
        invoiceTerms(method.text, invoice, found)
      );
    }
    case 'onchain': {
      const obstacle = addressObstacle(method.text, node) ?? onchainObstacle(node);
      return obstacle ?? addressTerms(method.text, found);
    }
    case 'lnurl':
      return lnurlTerms(method.text, await services.lnurl.discover(method.url, { signal }));
  }
}

function onchainObstacle(node: WalletNode): string | null {
  if (node.onchain) return null;
  return `This wallet's node (${node.descriptor.kind}) cannot pay on chain.`;
}

function amountConflict(invoice: Bolt11Invoice, found: Found): string | null {
  const conflict =
    found.amountMsat !== null &&
    invoice.amountMsat !== null &&
    found.amountMsat !== invoice.amountMsat;
  return conflict ? 'The invoice asks for another amount than the URI that holds it.' : null;
}

function offerTerms(offer: Offer, found: Found): PayMethod {
  return {
    kind: 'offer',
    text: offer.text,
    viaName: found.viaName,
    description: offer.description ?? found.description,
    amountMsat: found.amountMsat,
    amountFromUri: found.amountMsat !== null,
    // BOLT 12: the offer's amount is the least that is accepted.
    minMsat: offer.amountMsat,
    maxMsat: null,
    expiresAtMs: offer.absoluteExpirySecs === null ? null : offer.absoluteExpirySecs * 1000,
  };
}

function invoiceTerms(text: string, invoice: Bolt11Invoice, found: Found): PayMethod {
  return {
    kind: 'invoice',
    text,
    description: invoice.description ?? found.description,
    amountMsat: invoice.amountMsat ?? found.amountMsat,
    amountFromUri: invoice.amountMsat === null && found.amountMsat !== null,
    minMsat: null,
    maxMsat: null,
    expiresAtMs: invoice.expiresAtMs,
  };
}

function addressTerms(text: string, found: Found): PayMethod {
  return {
    kind: 'onchain',
    text: decodeAddress(text).canonical,
    description: found.description,
    amountMsat: found.amountMsat,
    amountFromUri: found.amountMsat !== null,
    minMsat: null,
    maxMsat: null,
    expiresAtMs: null,
  };
}

function lnurlTerms(
  text: string,
  request: LnurlPayRequest | LnurlWithdrawRequest,
): PayMethod | ClaimMethod {
  if (request.tag === 'withdrawRequest') {
    const { minWithdrawableMsat: minMsat, maxWithdrawableMsat: maxMsat } = request;
    const description = request.defaultDescription;
    return {
      text,
      request,
      description,
      minMsat,
      maxMsat,
      amountMsat: null,
      amountFromUri: false,
      expiresAtMs: null,
    };
  }
  const { minSendableMsat: minMsat, maxSendableMsat: maxMsat } = request;
  return {
    kind: 'lnurl-pay',
    text,
    request,
    description: request.longDescription ?? request.description,
    amountMsat: minMsat === maxMsat ? minMsat : null,
    amountFromUri: false,
    minMsat,
    maxMsat,
    expiresAtMs: null,
  };
}
