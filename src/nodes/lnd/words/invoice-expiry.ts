import { encodedExpiryMs } from '../../remote/orders/encoded-expiry.ts';
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
