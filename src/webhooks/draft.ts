import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { encodePayment, isAwaitingApproval, isHeld, type Payment } from '../model/payment.ts';
import type { WebhookEvent, WebhookPayload } from '../model/webhooks/delivery.ts';
import { CONFIGURED_ENDPOINT } from '../model/webhooks/webhook-endpoint.ts';
import type { DeliveryDraft, ObservationRules } from '../store/ports.ts';

interface DeliveryRuleOptions {
  /** The events of the configured receiver, which hears of every wallet; null where none is configured. */
  readonly configured: readonly WebhookEvent[] | null;
  readonly clock: Clock;
}

/** Returns the rule by which a payment gets its delivery, and the endpoints that hear of it (docs/decisions.md 126). */
export function deliveryRule({
  configured,
  clock,
}: DeliveryRuleOptions): ObservationRules['deliver'] {
  return (payment, walletId, endpoints) => {
    const nowMs = clock.now();
    const event = eventOf(payment);
    const hearing = endpoints
      .filter(
        ({ events, expiresAtMs }) => events.includes(event) && (expiresAtMs ?? nowMs + 1) > nowMs,
      )
      .map(({ id }) => id);
    const all = configured?.includes(event) ? [CONFIGURED_ENDPOINT, ...hearing] : hearing;
    return all.length === 0 ? null : { ...deliveryDraft(payment, walletId, nowMs), endpoints: all };
  };
}

/**
 * Returns the delivery of a payment that is finalized, held or waits for approval (docs/webhooks.md, Payload).
 * `timestamp` is the time at which it became so. The webhook-id follows from wallet, payment and event alone, so it is
 * the same over attempts, redeliveries, restarts and endpoints (docs/decisions.md 91).
 */
export function deliveryDraft(
  payment: Payment,
  userPk: string,
  nowMs: number,
): Omit<DeliveryDraft, 'endpoints'> {
  const type = eventOf(payment);
  const isEnd = type === 'payment.finalized';
  const atMs = isEnd ? (payment.finalizedAtMs ?? nowMs) : payment.updatedAtMs;
  const payload: WebhookPayload = {
    ...encodePayment(payment),
    type,
    timestamp: new Date(atMs).toISOString(),
    user_pk: userPk,
  };
  const name = `${userPk}/${payment.index}${NAME_ENDS[type]}`;
  const digest = createHash('sha256').update(name).digest('hex');
  const id = `msg_${digest.slice(0, 40)}`;
  return { id, event: type, body: JSON.stringify(payload), createdAtMs: nowMs };
}

/** What tells the webhook-ids of a payment's events apart. */
const NAME_ENDS: Readonly<Record<WebhookEvent, string>> = {
  'payment.finalized': '',
  'payment.held': '/held',
  'payment.approval_requested': '/approval',
};

function eventOf(payment: Payment): WebhookEvent {
  if (isAwaitingApproval(payment)) return 'payment.approval_requested';
  return isHeld(payment) ? 'payment.held' : 'payment.finalized';
}
