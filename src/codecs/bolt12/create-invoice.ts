import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import type { Invalid } from '../bigsize.ts';
import type { FallbackAddress } from './blinded-path.ts';
import { INVOICE_FIELDS, writeFields } from './fields.ts';
import { invalidDocument } from './invalid-document.ts';
import { type Bolt12Invoice, INVOICE_SIGNATURE, type InvoicePath, invoiceOf } from './invoice.ts';
import type { InvoiceRequest } from './invoice-request.ts';
import { merkleRoot } from './merkle.ts';
import { isInvoiceRequestType } from './ranges.ts';
import { signRoot } from './signature.ts';
import { verifyInvoice } from './verify-invoice.ts';

interface InvoiceParts {
  readonly invoiceRequest: InvoiceRequest;
  /** SHA-256 of the preimage, hex. */
  readonly paymentHash: string;
  /** The request's amount; if it has none, the offer's amount times the quantity. */
  readonly amountMsat: bigint;
  /** Whole seconds since 1970. */
  readonly createdAtSecs: number;
  /** If this is left out, the invoice expires 7200 seconds after its creation. */
  readonly relativeExpirySecs?: number;
  /** 32-byte secret key of the offer's `offer_issuer_id`, or of the last hop of one of its paths. */
  readonly nodeSecretKey: Uint8Array;
  /** At least one path to the node, the most preferred first. */
  readonly paths: readonly InvoicePath[];
  readonly fallbacks?: readonly FallbackAddress[];
  readonly features?: Uint8Array;
  /** Fresh random bytes for the signature, see `Signer`. */
  readonly auxRand?: Uint8Array;
}

const invalid: Invalid = invalidDocument('bolt12', 'invoice', 'change its values');

/**
 * Makes and signs the invoice for a request. Throws `CodecError('bolt12')` when it would be invalid for the payer: a
 * wrong amount, a wrong key, or no path.
 */
export function createInvoice(parts: InvoiceParts): Bolt12Invoice {
  const { invoiceRequest, nodeSecretKey, paths } = parts;
  const unsigned = writeFields(
    INVOICE_FIELDS,
    {
      invoicePaths: paths.map(({ path }) => path),
      invoiceBlindedPay: paths.map(({ payInfo }) => payInfo),
      invoiceCreatedAt: BigInt(parts.createdAtSecs),
      invoiceRelativeExpiry: parts.relativeExpirySecs ?? null,
      invoicePaymentHash: parts.paymentHash,
      invoiceAmount: parts.amountMsat,
      invoiceFallbacks: parts.fallbacks ?? null,
      invoiceFeatures: parts.features ?? null,
      invoiceNodeId: hex.encode(secp256k1.getPublicKey(nodeSecretKey, true)),
    },
    invoiceRequest.records.filter(({ type }) => isInvoiceRequestType(type)),
    invalid,
  );
  const root = merkleRoot(unsigned) ?? invalid('it is empty');
  const signature = signRoot(INVOICE_SIGNATURE, root, {
    secretKey: nodeSecretKey,
    auxRand: parts.auxRand,
  });
  const invoice = invoiceOf(writeFields(INVOICE_FIELDS, { signature }, unsigned, invalid));
  verifyInvoice(invoice, invoiceRequest);
  return invoice;
}
