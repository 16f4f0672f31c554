import type { Invalid } from '../bigsize.ts';
import { expectedAmountMsat } from './expected-amount.ts';
import { invalidDocument } from './invalid-document.ts';
import type { Bolt12Invoice } from './invoice.ts';
import type { InvoiceRequest } from './invoice-request.ts';
import { requireIssuerKey } from './issuer-key.ts';
import { lastBlindedNodeIds } from './offer.ts';
import { isInvoiceRequestType } from './ranges.ts';
import { sameRecords } from './same-records.ts';

const invalid: Invalid = invalidDocument(
  'bolt12',
  'invoice',
  'do not pay it and ask for a new one',
);

/**
 * Checks that an invoice fits its request (BOLT 12, reader of an invoice): it repeats every field of the request, it is
 * signed with the key that the offer names, and its amount is that of the request or the offer, but for an offer in a
 * currency. The signature was verified when the invoice was read. Check the expiry with `isBolt12InvoiceExpired`.
 * Throws `CodecError('bolt12')`.
 */
export function verifyInvoice(invoice: Bolt12Invoice, request: InvoiceRequest): void {
  const mirrored = invoice.records.filter(({ type }) => isInvoiceRequestType(type));
  const asked = request.records.filter(({ type }) => isInvoiceRequestType(type));
  if (!sameRecords(mirrored, asked))
    invalid('it does not repeat the fields of the invoice request');

  const { offerIssuerId, offerPaths, offerCurrency, offerAmount } = request.values;
  if (offerIssuerId !== null || offerPaths !== null) {
    const keys = {
      issuerId: offerIssuerId,
      pathsLastBlindedNodeIds: lastBlindedNodeIds(offerPaths),
    };
    requireIssuerKey(invoice.nodeId, keys, invalid);
  }

  // BOLT 12 allows another amount than the offer's if the payer agrees. The payer cannot be asked here.
  const expectedMsat =
    request.amountMsat ??
    expectedAmountMsat({
      currency: offerCurrency,
      amount: offerAmount,
      quantity: request.quantity,
    });
  // Where the offer has a price in a currency, the payer compares the amount with a rate.
  if (expectedMsat !== null && invoice.amountMsat !== expectedMsat) {
    invalid(`invoice_amount is not the expected ${expectedMsat} millisatoshis`);
  }
}
