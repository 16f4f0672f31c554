import { hex } from '@scure/base';
import type { Invalid } from '../bigsize.ts';
import { NETWORKS } from '../network.ts';
import { decodeTlvStream, encodeTlvStream, type TlvRecord } from '../tlv.ts';
import type { BlindedPath, BlindedPayInfo, FallbackAddress } from './blinded-path.ts';
import { type FieldValues, INVOICE_FIELDS, readFields, required } from './fields.ts';
import { invalidDocument } from './invalid-document.ts';
import { respondsToOffer } from './invoice-request.ts';
import { merkleRoot } from './merkle.ts';
import { offerIdOf } from './offer-id.ts';
import { isInvoiceType, isSignatureType } from './ranges.ts';
import { isRootSignature } from './signature.ts';
import { decodeBolt12String, encodeBolt12String } from './string.ts';
import { unknownEvenBit } from './values.ts';

/** The values of all fields that an invoice may have, by BOLT 12's names; null for a field that is absent. */
type InvoiceValues = FieldValues<typeof INVOICE_FIELDS>;

/** A blinded path of an invoice, with its fees and limits. */
export interface InvoicePath {
  readonly path: BlindedPath;
  readonly payInfo: BlindedPayInfo;
}

/** A BOLT 12 invoice whose signature has been verified. */
export interface Bolt12Invoice {
  /** Canonical string (`lni1...`). */
  readonly text: string;
  /** The TLV stream, as an onion message carries it. */
  readonly bytes: Uint8Array;
  /** Genesis hash of the chain to pay on, wire order, hex; Bitcoin when the invoice names none. */
  readonly chain: string;
  /** SHA-256 of the preimage that payment reveals, hex. */
  readonly paymentHash: string;
  readonly amountMsat: bigint;
  readonly createdAtSecs: number;
  /** `createdAtSecs` plus the relative expiry; 7200 seconds when the invoice names none. */
  readonly expiresAtSecs: number;
  /** The key that signed the invoice, hex; it need not be the id of a public node. */
  readonly nodeId: string;
  /** The payer's key in the invoice request, hex. */
  readonly payerId: string;
  /** The id of the offer that it is for, hex; null where it is for none. */
  readonly offerId: string | null;
  readonly description: string | null;
  readonly issuer: string | null;
  readonly payerNote: string | null;
  readonly quantity: bigint | null;
  /** The paths in the payee's order of preference; paths that require an unknown feature are left out. */
  readonly paths: readonly InvoicePath[];
  /** On-chain addresses, without those that BOLT 12 says to ignore for their version or length. */
  readonly fallbacks: readonly FallbackAddress[];
  readonly features: Uint8Array | null;
  /** 64 bytes, hex. */
  readonly signature: string;
  /** The merkle root that is signed, hex. */
  readonly invoiceRoot: string;
  /** The value of every field, including those of the offer and the request, which the invoice repeats. */
  readonly values: InvoiceValues;
  /** All fields in order, including unknown odd ones and the signature. */
  readonly records: readonly TlvRecord[];
}

/** The subject of an invoice's signature. */
export const INVOICE_SIGNATURE = { message: 'invoice', field: 'signature' } as const;

/** How many seconds an invoice without `invoice_relative_expiry` can be paid (BOLT 12). */
const DEFAULT_EXPIRY_SECS = 7200;

/** Multi-part payments, required and optional (BOLT 12, "Invoice Features"). */
const KNOWN_INVOICE_FEATURES = [16, 17];

const invalid: Invalid = invalidDocument('bolt12', 'invoice', 'ask for a new one');

/** Reads a `Bolt12Invoice` by the rules of BOLT 12 for it alone; the signature is not verified here. */
export function invoiceOf(records: readonly TlvRecord[]): Bolt12Invoice {
  const stray = records.find(({ type }) => !isInvoiceType(type) && !isSignatureType(type));
  if (stray !== undefined) invalid(`it has field ${stray.type}, which invoices cannot have`);
  const values = readFields(INVOICE_FIELDS, records, invalid);
  const createdAt = required(values.invoiceCreatedAt, INVOICE_FIELDS.invoiceCreatedAt, invalid);
  if (createdAt > BigInt(Number.MAX_SAFE_INTEGER)) invalid('invoice_created_at is not a date');
  const createdAtSecs = Number(createdAt);
  const bit = unknownEvenBit(values.invoiceFeatures ?? new Uint8Array(), KNOWN_INVOICE_FEATURES);
  if (bit !== null) invalid(`it requires feature ${bit}, which is not supported`);

  const bytes = encodeTlvStream(records);
  const root = merkleRoot(records) ?? invalid('it is empty');
  return {
    text: encodeBolt12String('lni', bytes),
    bytes,
    chain: values.invreqChain ?? NETWORKS.bitcoin.chainHash,
    paymentHash: required(values.invoicePaymentHash, INVOICE_FIELDS.invoicePaymentHash, invalid),
    amountMsat: required(values.invoiceAmount, INVOICE_FIELDS.invoiceAmount, invalid),
    createdAtSecs,
    expiresAtSecs: createdAtSecs + (values.invoiceRelativeExpiry ?? DEFAULT_EXPIRY_SECS),
    nodeId: required(values.invoiceNodeId, INVOICE_FIELDS.invoiceNodeId, invalid),
    payerId: required(values.invreqPayerId, INVOICE_FIELDS.invreqPayerId, invalid),
    offerId: respondsToOffer(values) ? offerIdOf(records) : null,
    description: values.offerDescription,
    issuer: values.offerIssuer,
    payerNote: values.invreqPayerNote,
    quantity: values.invreqQuantity,
    paths: usablePaths(values),
    fallbacks: (values.invoiceFallbacks ?? []).filter(isUsableFallback),
    features: values.invoiceFeatures,
    signature: required(values.signature, INVOICE_FIELDS.signature, invalid),
    invoiceRoot: hex.encode(root),
    values,
    records,
  };
}

function usablePaths(values: InvoiceValues): InvoicePath[] {
  const paths = required(values.invoicePaths, INVOICE_FIELDS.invoicePaths, invalid);
  const infos = required(values.invoiceBlindedPay, INVOICE_FIELDS.invoiceBlindedPay, invalid);
  if (paths.length !== infos.length) {
    invalid('invoice_blindedpay does not describe each of invoice_paths');
  }
  const usable = paths.flatMap((path, i) => {
    const payInfo = infos[i];
    return payInfo !== undefined && unknownEvenBit(payInfo.features, []) === null
      ? [{ path, payInfo }]
      : [];
  });
  if (usable.length === 0) invalid('each of its paths requires a feature that is not supported');
  return usable;
}

function isUsableFallback({ version, program }: FallbackAddress): boolean {
  return version <= 16 && program.length >= 2 && program.length <= 40;
}

/**
 * Reads an invoice from its string (`lni1...`) or its TLV stream, by the rules of BOLT 12 that concern it alone,
 * and verifies its signature. Throws `CodecError('bolt12')`.
 */
export function decodeInvoice(source: string | Uint8Array): Bolt12Invoice {
  const bytes = typeof source === 'string' ? decodeBolt12String(source, 'lni', invalid) : source;
  const invoice = invoiceOf(decodeTlvStream(bytes, invalid));
  const root = hex.decode(invoice.invoiceRoot);
  if (!isRootSignature(INVOICE_SIGNATURE, root, invoice.signature, invoice.nodeId)) {
    invalid('signature is not by invoice_node_id');
  }
  return invoice;
}

/**
 * Returns the description of the offer that an invoice (`lni1...`) answers; null where there is none. The rest of the
 * invoice is not checked, nor its signature: use it only for invoices that are known to be valid. Bytes that are not
 * UTF-8 become U+FFFD. Throws `CodecError('bolt12')`.
 */
export function invoiceDescriptionOf(text: string): string | null {
  const { type } = INVOICE_FIELDS.offerDescription;
  const records = decodeTlvStream(decodeBolt12String(text, 'lni', invalid), invalid);
  const found = records.find((record) => record.type === type);
  return found ? Buffer.from(found.value).toString('utf8') : null;
}

/** Returns whether an invoice has expired, so that it must not be paid any more (BOLT 12). */
export function isBolt12InvoiceExpired(invoice: Bolt12Invoice, nowSecs: number): boolean {
  return nowSecs > invoice.expiresAtSecs;
}
