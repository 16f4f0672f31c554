import { expiresAtMsOf } from '../../codecs/bolt11/index.ts';
import { readOr } from '../../codecs/codec-error.ts';
import type { LndInvoice } from './wire.ts';

/**
 * Returns when an invoice of the wallet expires, in milliseconds since the epoch: the time that it encodes
 * (docs/decisions.md 27), or else the time that LND states. Null for a keysend, which has no invoice.
 */
export function ownExpiryMs(
  invoice: Pick<LndInvoice, 'payment_request' | 'creation_date' | 'expiry'>,
): number | null {
  const { payment_request, creation_date, expiry } = invoice;
  if (payment_request === '') return null;
  return encodedExpiryMs(payment_request) ?? (creation_date + expiry) * 1000;
}

/**
 * Returns the expiry that a BOLT 11 string encodes. Null where the string cannot be read, so that the payment is still
 * shown.
 */
export function encodedExpiryMs(paymentRequest: string): number | null {
  return readOr(
    () => expiresAtMsOf(paymentRequest),
    () => null,
  );
}
