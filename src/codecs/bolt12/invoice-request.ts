import type { Invalid } from '../bigsize.ts';
import { NETWORKS } from '../network.ts';
import { decodeTlvStream, encodeTlvStream, type TlvRecord } from '../tlv.ts';
import type { Bip353Name } from './bip353-name.ts';
import { expectedAmountMsat } from './expected-amount.ts';
import { type FieldValues, INVOICE_REQUEST_FIELDS, readFields, required } from './fields.ts';
import { invalidDocument } from './invalid-document.ts';
import { merkleRoot } from './merkle.ts';
import type { Offer } from './offer.ts';
import { isInvoiceRequestType, isOfferType, isSignatureType } from './ranges.ts';
import { sameRecords } from './same-records.ts';
import { isRootSignature } from './signature.ts';
import { decodeBolt12String, encodeBolt12String } from './string.ts';
import { unknownEvenBit } from './values.ts';

/** The values of all fields that an invoice request may have, by BOLT 12's names; null for a field that is absent. */
type InvoiceRequestValues = FieldValues<typeof INVOICE_REQUEST_FIELDS>;

/** A BOLT 12 invoice request. If it has a signature, that has been verified. */
export interface InvoiceRequest {
  /** Canonical string (`lnr1...`). */
  readonly text: string;
  /** The TLV stream, as an onion message carries it. */
  readonly bytes: Uint8Array;
  /** Genesis hash of the chain to pay on, wire order, hex; Bitcoin when the request names none. */
  readonly chain: string;
  /** The amount that the payer proposes; null: the offer's amount. */
  readonly amountMsat: bigint | null;
  readonly quantity: bigint | null;
  /** Transient key of the payer, hex. */
  readonly payerId: string;
  readonly payerNote: string | null;
  readonly bip353Name: Bip353Name | null;
  /** Random bytes of the payer. Never show them: with them the fields that a payer proof omits can be guessed. */
  readonly metadata: Uint8Array;
  /** 64 bytes, hex; null only in requests that respond to no offer ("offer to send money"). */
  readonly signature: string | null;
  /** The value of every field, including those of the offer, which the request repeats. */
  readonly values: InvoiceRequestValues;
  /** All fields in order, including unknown odd ones and the signature. */
  readonly records: readonly TlvRecord[];
}

/** The subject of an invoice request's signature. */
export const INVOICE_REQUEST_SIGNATURE = {
  message: 'invoice_request',
  field: 'signature',
} as const;

const invalid: Invalid = invalidDocument(
  'bolt12',
  'invoice request',
  'make a new one from the offer',
);

/** Reads an `InvoiceRequest` by the rules of BOLT 12 for it alone; the signature is not verified here. */
export function invoiceRequestOf(records: readonly TlvRecord[]): InvoiceRequest {
  const stray = records.find(({ type }) => !isInvoiceRequestType(type) && !isSignatureType(type));
  if (stray !== undefined) invalid(`it has field ${stray.type}, which requests cannot have`);
  const values = readFields(INVOICE_REQUEST_FIELDS, records, invalid);
  const metadata = required(values.invreqMetadata, INVOICE_REQUEST_FIELDS.invreqMetadata, invalid);
  const payerId = required(values.invreqPayerId, INVOICE_REQUEST_FIELDS.invreqPayerId, invalid);
  const bit = unknownEvenBit(values.invreqFeatures ?? new Uint8Array(), []);
  if (bit !== null) invalid(`it requires feature ${bit}, which is not supported`);
  if (respondsToOffer(values)) checkOfferTerms(values);
  else checkOfferless(values);

  const bytes = encodeTlvStream(records);
  return {
    text: encodeBolt12String('lnr', bytes),
    bytes,
    chain: values.invreqChain ?? NETWORKS.bitcoin.chainHash,
    amountMsat: values.invreqAmount,
    quantity: values.invreqQuantity,
    payerId,
    payerNote: values.invreqPayerNote,
    bip353Name: values.invreqBip353Name,
    metadata,
    signature: values.signature,
    values,
    records,
  };
}

/** Whether the request responds to an offer, and does not offer to send money (BOLT 12, reader of a request). */
export function respondsToOffer({
  offerIssuerId,
  offerPaths,
}: Pick<InvoiceRequestValues, 'offerIssuerId' | 'offerPaths'>): boolean {
  return offerIssuerId !== null || offerPaths !== null;
}

function checkOfferTerms(values: InvoiceRequestValues): void {
  required(values.signature, INVOICE_REQUEST_FIELDS.signature, invalid);
  const { offerQuantityMax: max, invreqQuantity: quantity, invreqAmount: amountMsat } = values;
  if (max === null) {
    if (quantity !== null) invalid('the offer is not sold by quantity');
  } else {
    const wanted = required(quantity, INVOICE_REQUEST_FIELDS.invreqQuantity, invalid);
    if (wanted === 0n) invalid('invreq_quantity is zero');
    if (max !== 0n && wanted > max) invalid(`invreq_quantity is above the offer's ${max}`);
  }
  if (values.offerAmount === null && amountMsat === null) {
    invalid('neither the offer nor invreq_amount says an amount');
  }
  const expectedMsat = expectedAmountMsat({
    currency: values.offerCurrency,
    amount: values.offerAmount,
    quantity,
  });
  if (amountMsat !== null && expectedMsat !== null && amountMsat < expectedMsat) {
    invalid(`invreq_amount is below the ${expectedMsat} millisatoshis that the offer asks for`);
  }
}

function checkOfferless(values: InvoiceRequestValues): void {
  const { offerChains, offerFeatures, offerQuantityMax } = values;
  if (offerChains !== null || offerFeatures !== null || offerQuantityMax !== null) {
    invalid('it responds to no offer but has fields that only offers have');
  }
  required(values.invreqAmount, INVOICE_REQUEST_FIELDS.invreqAmount, invalid);
}

/**
 * Reads an invoice request from its string (`lnr1...`) or its TLV stream, by the rules of BOLT 12 that concern it
 * alone, and verifies its signature. Throws `CodecError('bolt12')`.
 */
export function decodeInvoiceRequest(source: string | Uint8Array): InvoiceRequest {
  const bytes = typeof source === 'string' ? decodeBolt12String(source, 'lnr', invalid) : source;
  const request = invoiceRequestOf(decodeTlvStream(bytes, invalid));
  const root = merkleRoot(request.records) ?? invalid('it is empty');
  const { signature, payerId } = request;
  if (signature !== null && !isRootSignature(INVOICE_REQUEST_SIGNATURE, root, signature, payerId)) {
    invalid('signature is not by invreq_payer_id');
  }
  return request;
}

/**
 * Checks that a request is for exactly this offer: it repeats every field of the offer, and names one of its chains.
 * Quantity, amount and signature were checked when the request was read; an amount for an offer in a currency is for
 * its issuer to check. Check the expiry of the offer with `isOfferExpired`. Throws `CodecError('bolt12')`.
 */
export function verifyInvoiceRequest(request: InvoiceRequest, offer: Offer): void {
  const mirrored = request.records.filter(({ type }) => isOfferType(type));
  if (!sameRecords(mirrored, offer.records)) invalid('its offer fields are not those of the offer');
  if (!offer.chains.includes(request.chain)) invalid('invreq_chain is not one of offer_chains');
}
