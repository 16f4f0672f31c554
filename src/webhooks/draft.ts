import { createHash } from 'node:crypto';
import type { WebhookPayload } from '../model/delivery.ts';
import { encodePayment, type Payment } from '../model/payment.ts';
import type { DeliveryDraft } from '../store/ports.ts';

/**
 * The delivery of a finalized payment (docs/webhooks.md, Payload). `timestamp` is the time at which the payment ended.
 * The webhook-id follows from wallet and payment alone, so it is the same over attempts, redeliveries and restarts
 * (docs/decisions.md 91).
 */
export function deliveryDraft(payment: Payment, userPk: string, nowMs: number): DeliveryDraft {
  const payload: WebhookPayload = {
    ...encodePayment(payment),
    type: 'payment.finalized',
    timestamp: new Date(payment.finalizedAtMs ?? nowMs).toISOString(),
    user_pk: userPk,
  };
  const digest = createHash('sha256').update(`${userPk}/${payment.index}`).digest('hex');
  return { id: `msg_${digest.slice(0, 40)}`, body: JSON.stringify(payload), createdAtMs: nowMs };
}
