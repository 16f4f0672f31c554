import { blankPayment, type Payment } from '../../src/model/payment.ts';
import { paymentId, paymentIndex } from '../../src/model/payment-index.ts';

/** A pending outbound payment of 1 sat, named by a number, made at that millisecond unless `change` says when. */
export function samplePayment(number: number, change: Partial<Payment> = {}): Payment {
  const hash = String(number).padStart(64, '0');
  const createdAtMs = change.createdAtMs ?? number;
  return {
    ...blankPayment({
      index: paymentIndex(createdAtMs, paymentId('ln', hash)),
      rail: 'invoice',
      direction: 'outbound',
      status: 'pending',
      statusMsg: 'pending',
      createdAtMs,
      updatedAtMs: createdAtMs,
    }),
    hash,
    amountMsat: 1000n,
    ...change,
  };
}
