import { blankPayment, encodePayment } from '../model/payment.ts';
import { paymentId, paymentIndex } from '../model/payment-index.ts';
import type { TestPayload } from '../model/webhooks/delivery.ts';

/** The hash of no payment: no preimage of it is known. */
const NO_HASH = '0'.repeat(64);

/**
 * Returns the message of a test delivery. It has the form of a real one, and cannot be taken for money by a receiver
 * that does not look at its type: the payment failed, its amount is 0, and its index is that of no payment
 * (docs/decisions.md 128). `draw` is random text that makes the webhook-id a new one.
 */
export function testMessage(
  userPk: string,
  { nowMs, draw }: { readonly nowMs: number; readonly draw: string },
): { readonly id: string; readonly body: string } {
  const payment = {
    ...blankPayment({
      index: paymentIndex(nowMs, paymentId('ln', NO_HASH)),
      rail: 'invoice',
      direction: 'inbound',
      status: 'failed',
      statusMsg: 'test delivery: no payment was made',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    }),
    hash: NO_HASH,
    amountMsat: 0n,
    finalizedAtMs: nowMs,
  };
  const payload: TestPayload = {
    ...encodePayment(payment),
    type: 'webhook.test',
    timestamp: new Date(nowMs).toISOString(),
    user_pk: userPk,
  };
  return { id: `msg_test_${draw}`, body: JSON.stringify(payload) };
}
