import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import type { Invalid } from '../bigsize.ts';
import { NETWORKS } from '../network.ts';
import type { Bip353Name } from './bip353-name.ts';
import { INVOICE_REQUEST_FIELDS, writeFields } from './fields.ts';
import { invalidDocument } from './invalid-document.ts';
import {
  INVOICE_REQUEST_SIGNATURE,
  type InvoiceRequest,
  invoiceRequestOf,
} from './invoice-request.ts';
import { merkleRoot } from './merkle.ts';
import type { Offer } from './offer.ts';
import { signRoot } from './signature.ts';

/** The values that an invoice request is made from. */
export interface InvoiceRequestParts {
  readonly offer: Offer;
  /** 32-byte transient secret key. Keep it: a payer proof is signed with it. */
  readonly payerSecretKey: Uint8Array;
  /** At least 16 random bytes that stay secret, so that the fields that a payer proof omits cannot be guessed. */
  readonly metadata: Uint8Array;
  /** Genesis hash of the chain to pay on, wire order, hex. */
  readonly chain: string;
  /** Required if the offer has no amount; otherwise at least the offer's amount times the quantity, or left out. */
  readonly amountMsat?: bigint;
  /** The number of items to buy. If it is left out, and the offer is sold by quantity, it is one. */
  readonly quantity?: bigint;
  readonly payerNote?: string;
  /** The Human Bitcoin Address under which the offer was found. */
  readonly bip353Name?: Bip353Name;
  /** Fresh random bytes for the signature, see `Signer`. */
  readonly auxRand?: Uint8Array;
}

const invalid: Invalid = invalidDocument('bolt12', 'invoice request', 'change its values');

/**
 * Makes and signs an invoice request for an offer. Throws `CodecError('bolt12')` when the offer does not allow the
 * request: another chain, an amount that is too low, or a quantity that it does not sell. Without an amount the issuer
 * of an offer that has one names it, by its own rate where that is in a currency.
 */
export function createInvoiceRequest(parts: InvoiceRequestParts): InvoiceRequest {
  const { offer, payerSecretKey, chain } = parts;
  if (parts.metadata.length < 16) invalid('invreq_metadata has fewer than 16 bytes');
  if (!offer.chains.includes(chain)) invalid('invreq_chain is not one of offer_chains');

  const soldByQuantity = offer.quantityMax !== null;
  const unsigned = writeFields(
    INVOICE_REQUEST_FIELDS,
    {
      invreqMetadata: parts.metadata,
      // For Bitcoin the field is left out, because without it a request is for Bitcoin (BOLT 12).
      invreqChain: chain === NETWORKS.bitcoin.chainHash ? null : chain,
      invreqAmount: parts.amountMsat ?? null,
      invreqQuantity: parts.quantity ?? (soldByQuantity ? 1n : null),
      invreqPayerId: hex.encode(secp256k1.getPublicKey(payerSecretKey, true)),
      invreqPayerNote: parts.payerNote ?? null,
      invreqBip353Name: parts.bip353Name ?? null,
    },
    offer.records,
    invalid,
  );
  const root = merkleRoot(unsigned) ?? invalid('it is empty');
  const signature = signRoot(INVOICE_REQUEST_SIGNATURE, root, {
    secretKey: payerSecretKey,
    auxRand: parts.auxRand,
  });
  return invoiceRequestOf(writeFields(INVOICE_REQUEST_FIELDS, { signature }, unsigned, invalid));
}
