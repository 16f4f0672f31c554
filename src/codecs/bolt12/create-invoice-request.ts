import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import type { Refuse } from '../bigsize.ts';
import { CodecError } from '../codec-error.ts';
import { NETWORKS } from '../network.ts';
import type { Bip353Name } from './bip353-name.ts';
import { INVOICE_REQUEST_FIELDS, writeFields } from './fields.ts';
import {
  INVOICE_REQUEST_SIGNATURE,
  type InvoiceRequest,
  invoiceRequestOf,
} from './invoice-request.ts';
import { merkleRoot } from './merkle.ts';
import { currencyReason, type Offer } from './offer.ts';
import { refusal } from './refusal.ts';
import { signRoot } from './signature.ts';

/** What a payer says when asking for an invoice. */
export interface InvoiceRequestParts {
  readonly offer: Offer;
  /** 32-byte transient key; keep it, a payer proof is signed with it. */
  readonly payerSecretKey: Uint8Array;
  /** At least 16 random bytes, never shown: they make what payer proofs leave out unguessable. */
  readonly metadata: Uint8Array;
  /** Genesis hash of the chain to pay on, wire order, hex. */
  readonly chain: string;
  /** Wanted unless the offer says an amount; no less than the offer's amount times the quantity. */
  readonly amountMsat?: bigint;
  /** Items to buy; one when left out and the offer is sold by quantity. */
  readonly quantity?: bigint;
  readonly payerNote?: string;
  /** The Human Bitcoin Address that the offer was found under. */
  readonly bip353Name?: Bip353Name;
  /** Fresh randomness for the signature, see `Signer`. */
  readonly auxRand?: Uint8Array;
}

const refuse: Refuse = refusal('bolt12', 'invoice request', 'change what is asked for');

/**
 * Makes and signs an invoice request for an offer. Throws `CodecError('bolt12')` when the offer does not allow
 * what is asked: another chain, too low an amount, a quantity it does not sell, a price in a currency.
 */
export function createInvoiceRequest(parts: InvoiceRequestParts): InvoiceRequest {
  const { offer, payerSecretKey, chain } = parts;
  if (parts.metadata.length < 16) refuse('invreq_metadata has fewer than 16 bytes');
  if (offer.currency !== null) throw new CodecError('bolt12', currencyReason(offer.currency));
  if (!offer.chains.includes(chain)) refuse('invreq_chain is none of offer_chains');

  const soldByQuantity = offer.quantityMax !== null;
  const unsigned = writeFields(
    INVOICE_REQUEST_FIELDS,
    {
      invreqMetadata: parts.metadata,
      // BOLT 12 wants the field left out for Bitcoin, which is what its absence means.
      invreqChain: chain === NETWORKS.bitcoin.chainHash ? null : chain,
      invreqAmount: parts.amountMsat ?? null,
      invreqQuantity: parts.quantity ?? (soldByQuantity ? 1n : null),
      invreqPayerId: hex.encode(secp256k1.getPublicKey(payerSecretKey, true)),
      invreqPayerNote: parts.payerNote ?? null,
      invreqBip353Name: parts.bip353Name ?? null,
    },
    offer.records,
    refuse,
  );
  const root = merkleRoot(unsigned) ?? refuse('it is empty');
  const signature = signRoot(INVOICE_REQUEST_SIGNATURE, root, {
    secretKey: payerSecretKey,
    auxRand: parts.auxRand,
  });
  return invoiceRequestOf(writeFields(INVOICE_REQUEST_FIELDS, { signature }, unsigned, refuse));
}
