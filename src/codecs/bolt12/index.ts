// For payers and payees.

export type { Bip353Name } from './bip353-name.ts';
export { oneHopPath } from './blinded-path.ts';
export { createInvoice } from './create-invoice.ts';
export { createInvoiceRequest, type InvoiceRequestParts } from './create-invoice-request.ts';
// For payer proofs, which use the same fields, hashes and signatures.
export {
  type FieldValues,
  field,
  INVOICE_FIELDS,
  readFields,
  required,
  writeFields,
} from './fields.ts';
export { invalidDocument } from './invalid-document.ts';
export {
  type Bolt12Invoice,
  decodeInvoice,
  INVOICE_SIGNATURE,
  type InvoicePath,
  invoiceDescriptionOf,
  isBolt12InvoiceExpired,
} from './invoice.ts';
export {
  decodeInvoiceRequest,
  type InvoiceRequest,
  verifyInvoiceRequest,
} from './invoice-request.ts';
export { branchHash, foldTree, leafHash, merkleRoot, nonceHashes } from './merkle.ts';
export {
  decodeOffer,
  encodeOffer,
  isOfferExpired,
  type Offer,
  type OfferFields,
  offerUnpayableReason,
} from './offer.ts';
export { isInvoiceType, isSignatureType } from './ranges.ts';
export { isRootSignature, signRoot } from './signature.ts';
export {
  bolt12PrefixOf,
  decodeBolt12String,
  encodeBolt12String,
  joinBolt12Parts,
} from './string.ts';
export { fixedHex, hexList, safeNumber, utf8Text, type ValueCodec } from './values.ts';
export { verifyInvoice } from './verify-invoice.ts';
export { type OfferInvoiceTerms, verifyOfferInvoice } from './verify-offer-invoice.ts';
