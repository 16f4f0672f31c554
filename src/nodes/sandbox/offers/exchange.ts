import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import {
  type Bip353Name,
  type Bolt12Invoice,
  createInvoice,
  createInvoiceRequest,
  decodeInvoice,
  decodeInvoiceRequest,
  decodeOffer,
  encodeOffer,
  type InvoicePath,
  type InvoiceRequest,
  isBolt12InvoiceExpired,
  isOfferExpired,
  type Offer,
  offerUnpayableReason,
  oneHopPath,
  verifyInvoice,
  verifyInvoiceRequest,
} from '../../../codecs/bolt12/index.ts';
import { NETWORKS } from '../../../codecs/network.ts';
import { formatAmountMsat } from '../../../model/amount.ts';
import { refused } from '../../../model/errors.ts';
import { parseDecimal, scaled } from '../../../model/prices/decimal.ts';
import { decimalsOf, type Price } from '../../../model/prices/price.ts';
import { readOrRefuse } from '../../../model/read-or-error.ts';
import type { CreateOfferCommand, FetchInvoiceCommand } from '../../node.ts';

const CHAIN_HASH = NETWORKS.regtest.chainHash;

/** Seconds until an invoice for an offer expires; payers pay at once. */
const INVOICE_EXPIRY_SECS = 7200;

/** How many bytes of an offer's metadata are random. */
export const METADATA_BYTES = 16;

/** The content of a new offer. */
export interface OfferParts extends Omit<CreateOfferCommand, 'externalId'> {
  /** The price in a currency, for which the issuer asks `minAmountMsat`; left out where it counts in bitcoin. */
  readonly price?: Price | undefined;
  /** The node that answers invoice requests, and signs its invoices. */
  readonly issuerSecretKey: Uint8Array;
  /** Random, so that two offers with the same content have different ids. */
  readonly metadata: Uint8Array;
}

/** Writes an offer on the sandbox's network. Its issuer is a node that can be asked directly, without blinded paths. */
export function writeOffer(parts: OfferParts): Offer {
  const { description, minAmountMsat, expiresAtMs, price, metadata } = parts;
  // BOLT 12 requires a description when there is an amount; it may be empty.
  const shown = description ?? (minAmountMsat === null ? null : '');
  return decodeOffer(
    encodeOffer({
      chains: [CHAIN_HASH],
      // The metadata of an offer is for its issuer alone (BOLT 12), who finds its own rate there.
      metadata: price ? concatBytes(metadata, utf8ToBytes(String(minAmountMsat))) : metadata,
      ...(minAmountMsat === null ? {} : { amount: minAmountMsat }),
      ...(price && smallestUnits(price)),
      ...(shown === null ? {} : { description: shown }),
      // Rounded down, because an offer must not outlive the expiry that was asked for.
      ...(expiresAtMs === null ? {} : { absoluteExpirySecs: Math.floor(expiresAtMs / 1000) }),
      issuerId: hex.encode(secp256k1.getPublicKey(parts.issuerSecretKey, true)),
    }),
  );
}

function smallestUnits({ currency, amount }: Price) {
  const read = parseDecimal(amount);
  return read && { currency, amount: scaled(read, decimalsOf(currency) ?? 0) };
}

/** What the issuer of an offer asks for at least; null where the payer chooses. */
function leastOf({ amountMsat, currency, metadata }: Offer): bigint | null {
  if (currency === null || metadata === null) return amountMsat;
  return BigInt(new TextDecoder().decode(metadata.subarray(METADATA_BYTES)));
}

/** Throws `refused` when an offer has expired, or is for another chain. */
export function requirePayable(offer: Offer, nowMs: number): void {
  const reason = offerUnpayableReason(offer, {
    chainHash: CHAIN_HASH,
    nowSecs: Math.floor(nowMs / 1000),
  });
  if (reason !== null) throw refused(reason);
}

interface PayerParts extends FetchInvoiceCommand {
  /** Fresh for every payment, as BOLT 12 requires (`invreq_payer_id` is transient). */
  readonly payerSecretKey: Uint8Array;
  /** At least 16 random bytes. */
  readonly metadata: Uint8Array;
}

/** Returns the signed invoice request of a payer. Throws `refused` when the offer does not allow what is asked. */
export function askForInvoice(parts: PayerParts): InvoiceRequest {
  const name = parts.viaName === null ? null : bip353Name(parts.viaName);
  return readOrRefuse(() =>
    createInvoiceRequest({
      offer: parts.offer,
      payerSecretKey: parts.payerSecretKey,
      metadata: parts.metadata,
      chain: CHAIN_HASH,
      ...(parts.amountMsat === null ? {} : { amountMsat: parts.amountMsat }),
      ...(parts.message === null ? {} : { payerNote: parts.message }),
      ...(name === null ? {} : { bip353Name: name }),
    }),
  );
}

interface AnswerParts {
  readonly requestBytes: Uint8Array;
  /** The receiver's own offer, for which the invoice is requested. */
  readonly offer: Offer;
  readonly issuerSecretKey: Uint8Array;
  /** The payment hash of the invoice, hex. */
  readonly paymentHash: string;
  readonly nowMs: number;
}

/** Verifies a request against the receiver's offer and signs the invoice. Throws `refused` when it does not fit. */
export function answerInvoiceRequest(parts: AnswerParts): Bolt12Invoice {
  const nowSecs = Math.floor(parts.nowMs / 1000);
  if (isOfferExpired(parts.offer, nowSecs)) {
    throw refused('The offer has expired; ask its issuer for a new one.');
  }
  return readOrRefuse(() => {
    const request = decodeInvoiceRequest(parts.requestBytes);
    verifyInvoiceRequest(request, parts.offer);
    const leastMsat = leastOf(parts.offer);
    const amountMsat = request.amountMsat ?? leastMsat;
    if (amountMsat === null) throw refused('The invoice request names no amount; name one.');
    if (leastMsat !== null && amountMsat < leastMsat) {
      throw refused(`The issuer of the offer asks for ${formatAmountMsat(leastMsat)} sats.`);
    }
    return createInvoice({
      invoiceRequest: request,
      paymentHash: parts.paymentHash,
      amountMsat,
      createdAtSecs: nowSecs,
      relativeExpirySecs: INVOICE_EXPIRY_SECS,
      nodeSecretKey: parts.issuerSecretKey,
      paths: [pathTo(parts.issuerSecretKey, parts.paymentHash)],
    });
  });
}

/** Checks the invoice as its payer. Throws `refused` when it is not the one that was requested, or has expired. */
export function acceptInvoice(
  invoiceBytes: Uint8Array,
  request: InvoiceRequest,
  nowMs: number,
): Bolt12Invoice {
  return readOrRefuse(() => {
    const invoice = decodeInvoice(invoiceBytes);
    verifyInvoice(invoice, request);
    if (isBolt12InvoiceExpired(invoice, Math.floor(nowMs / 1000))) {
      throw refused('The invoice for the offer has expired; pay the offer again.');
    }
    return invoice;
  });
}

/**
 * The name in the form of an invoice request, or null when it does not fit: BOLT 12 allows letters, digits, `-`, `_`
 * and `.`. A port is left out, since the sandbox's default domain is its listen address.
 */
function bip353Name(text: string): Bip353Name | null {
  const match = /^₿?([0-9A-Za-z._-]{1,255})@([0-9A-Za-z._-]{1,255})(?::\d+)?$/.exec(text);
  const [, name, domain] = match ?? [];
  return name === undefined || domain === undefined ? null : { name, domain };
}

/** A blinded path with the receiver as its only node, with keys of its own for every invoice. */
function pathTo(nodeSecretKey: Uint8Array, paymentHash: string): InvoicePath {
  const derive = (label: string) =>
    sha256(concatBytes(nodeSecretKey, utf8ToBytes(`${label}/${paymentHash}`)));
  return {
    path: oneHopPath({
      introductionNodeId: hex.encode(secp256k1.getPublicKey(nodeSecretKey, true)),
      pathKey: hex.encode(secp256k1.getPublicKey(derive('path key'), true)),
      hop: {
        blindedNodeId: hex.encode(secp256k1.getPublicKey(derive('blinded node id'), true)),
        encryptedRecipientData: derive('recipient data'),
      },
    }),
    payInfo: {
      feeBaseMsat: 0,
      feeProportionalMillionths: 0,
      cltvExpiryDelta: 80,
      htlcMinimumMsat: 1n,
      htlcMaximumMsat: 2_100_000_000_000_000_000n,
      features: new Uint8Array(),
    },
  };
}
