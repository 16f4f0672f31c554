import { createHash } from 'node:crypto';
import type { WebhookEvent, WebhookPayload } from '../model/delivery.ts';
import { encodePayment, isHeld, type Payment } from '../model/payment.ts';
import type { DeliveryDraft } from '../store/ports.ts';

/**
 * Returns the delivery of a finalized or held payment (docs/webhooks.md, Payload). `timestamp` is the time at which the
 * payment ended or arrived. The webhook-id follows from wallet, payment and event alone, so it is the same over
 * attempts, redeliveries and restarts (docs/decisions.md 91).
 */
export function deliveryDraft(payment: Payment, userPk: string, nowMs: number): DeliveryDraft {
  const type: WebhookEvent = isHeld(payment) ? 'payment.held' : 'payment.finalized';
  const atMs = type === 'payment.held' ? payment.updatedAtMs : (payment.finalizedAtMs ?? nowMs);
  const payload: WebhookPayload = {
    ...encodePayment(payment),
    type,
    timestamp: new Date(atMs).toISOString(),
    user_pk: userPk,
  };
  const name = `${userPk}/${payment.index}${type === 'payment.held' ? '/held' : ''}`;
  const digest = createHash('sha256').update(name).digest('hex');
  return { id: `msg_${digest.slice(0, 40)}`, body: JSON.stringify(payload), createdAtMs: nowMs };
}
