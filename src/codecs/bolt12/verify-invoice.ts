import type { Refuse } from '../bigsize.ts';
import { expectedAmountMsat } from './expected-amount.ts';
import type { Bolt12Invoice } from './invoice.ts';
import type { InvoiceRequest } from './invoice-request.ts';
import { lastBlindedNodeIds } from './offer.ts';
import { isInvoiceRequestType } from './ranges.ts';
import { refusal } from './refusal.ts';
import { sameRecords } from './same-records.ts';

const refuse: Refuse = refusal('bolt12', 'invoice', 'do not pay it and ask for a new one');

/**
 * Checks that an invoice answers the request it is meant to answer (BOLT 12, reader of an invoice): every field
 * mirrored, signed by whom the offer names, for the amount asked or offered. Its signature was verified when it
 * was read; whether it has expired is `isBolt12InvoiceExpired`. Throws `CodecError('bolt12')`.
 */
export function verifyInvoice(invoice: Bolt12Invoice, request: InvoiceRequest): void {
  const mirrored = invoice.records.filter(({ type }) => isInvoiceRequestType(type));
  const asked = request.records.filter(({ type }) => isInvoiceRequestType(type));
  if (!sameRecords(mirrored, asked)) refuse('it does not repeat the fields of the invoice request');

  const { offerIssuerId, offerPaths, offerCurrency, offerAmount } = request.values;
  if (offerIssuerId !== null) {
    if (invoice.nodeId !== offerIssuerId) refuse('invoice_node_id is not the offer_issuer_id');
  } else if (offerPaths !== null && !lastBlindedNodeIds(offerPaths).includes(invoice.nodeId)) {
    refuse('invoice_node_id is not the end of any of offer_paths');
  }

  // BOLT 12 leaves an amount other than the offer's to the payer's consent; nobody is asked here.
  const expectedMsat =
    request.amountMsat ??
    expectedAmountMsat({
      currency: offerCurrency,
      amount: offerAmount,
      quantity: request.quantity,
    });
  if (expectedMsat === null) refuse('its request leaves the amount to a price in a currency');
  if (invoice.amountMsat !== expectedMsat) {
    refuse(`invoice_amount is not the expected ${expectedMsat} millisatoshis`);
  }
}
