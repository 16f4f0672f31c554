import type { Invalid } from '../bigsize.ts';
import { invalidDocument } from './invalid-document.ts';
import { type Bolt12Invoice, isBolt12InvoiceExpired } from './invoice.ts';
import { requireIssuerKey } from './issuer-key.ts';
import type { Offer } from './offer.ts';
import { isOfferType } from './ranges.ts';
import { sameRecords } from './same-records.ts';

/** What a payer asked for, which the invoice of an offer must repeat. */
export interface OfferInvoiceTerms {
  readonly offer: Offer;
  /** Null where the issuer names it, since its offer is in a currency: the caller compares it with a rate. */
  readonly amountMsat: bigint | null;
  /** Genesis hash of the payer's chain, wire order, hex. */
  readonly chain: string;
  /** The message to the payee; null for none. */
  readonly payerNote: string | null;
  readonly nowSecs: number;
}

const invalid: Invalid = invalidDocument(
  'bolt12',
  'invoice of the offer',
  'it is not paid, so ask the issuer of the offer',
);

/**
 * Checks an invoice against what its payer asked for, where the invoice request itself is known only to the payer's
 * node: it repeats every field of that very offer, is signed with a key of the offer, is for the payer's chain, asks
 * for exactly the amount, and has not expired. The signature was verified when the invoice was read. Throws
 * `CodecError('bolt12')`.
 */
export function verifyOfferInvoice(invoice: Bolt12Invoice, terms: OfferInvoiceTerms): void {
  const { offer, amountMsat, chain, payerNote, nowSecs } = terms;
  const mirrored = invoice.records.filter(({ type }) => isOfferType(type));
  if (!sameRecords(mirrored, offer.records)) invalid('it does not repeat the fields of the offer');
  requireIssuerKey(invoice.nodeId, offer, invalid);
  if (invoice.chain !== chain) invalid('invreq_chain is not the chain of this wallet');
  if (amountMsat !== null && invoice.amountMsat !== amountMsat) {
    invalid(`invoice_amount is not the ${amountMsat} millisatoshis that were asked for`);
  }
  if (invoice.payerNote !== payerNote) invalid('invreq_payer_note is not the message of the payer');
  if (isBolt12InvoiceExpired(invoice, nowSecs)) invalid('it has expired');
}
