import { paymentId, paymentIndex } from '../../../model/payment-index.ts';
import type { Observation } from '../../node.ts';
import { COMPLETED, shownPayment } from '../../shown-payment.ts';
import { ownExpiryMs } from './invoice-expiry.ts';
import { messageOf } from './keysend.ts';
import type { LndInvoice } from './wire.ts';

/**
 * Observations of an AMP invoice: one receipt for each settled set of HTLCs. The invoice has no hash and no preimage of
 * its own, so the set's identifier names the receipt, and each part has its own hash and preimage
 * (docs/decisions.md 43).
 */
export function ampObservations(invoice: LndInvoice, nowMs: number): Observation[] {
  return Object.entries(invoice.amp_invoice_state)
    .filter(([, { state }]) => state === 'SETTLED')
    .map(([setId, { settle_time, amt_paid_msat }]) => {
      const parts = invoice.htlcs.flatMap(({ state, amp, custom_records }) =>
        state === 'SETTLED' && amp?.set_id === setId ? [{ ...amp, custom_records }] : [],
      );
      const createdAtMs = invoice.creation_date * 1000;
      const finalizedAtMs = Math.min(settle_time * 1000, nowMs);
      const payment = shownPayment({
        ...COMPLETED,
        index: paymentIndex(createdAtMs, paymentId('ln', setId)),
        rail: invoice.payment_request === '' ? 'spontaneous' : 'invoice',
        direction: 'inbound',
        createdAtMs,
        finalizedAtMs,
        hash: setId,
        amountMsat: amt_paid_msat,
        invoice: invoice.payment_request || null,
        expiresAtMs: ownExpiryMs(invoice),
        message: messageOf(parts.map(({ custom_records }) => custom_records)),
      });
      const ampParts = parts.map(({ hash, preimage }) => ({ hash, preimage }));
      return { payment, attempt: null, ampParts };
    });
}
