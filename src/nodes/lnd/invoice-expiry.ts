import { expiresAtMsOf } from '../../codecs/bolt11/index.ts';
import { CodecError } from '../../codecs/codec-error.ts';
import type { LndInvoice } from './wire.ts';

/** When an invoice of the wallet ends, as it says itself (decisions section 5), or else LND; null for a keysend. */
export function ownExpiryMs(
  invoice: Pick<LndInvoice, 'payment_request' | 'creation_date' | 'expiry'>,
): number | null {
  const { payment_request, creation_date, expiry } = invoice;
  if (payment_request === '') return null;
  return encodedExpiryMs(payment_request) ?? (creation_date + expiry) * 1000;
}

/** What an invoice says itself. Null where it cannot be read: a payment is not lost over how it is shown. */
export function encodedExpiryMs(paymentRequest: string): number | null {
  try {
    return expiresAtMsOf(paymentRequest);
  } catch (error) {
    if (error instanceof CodecError) return null;
    throw error;
  }
}
