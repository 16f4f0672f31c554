import { createHash } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { encodePayment, isAwaitingApproval, isHeld, type Payment } from '../model/payment.ts';
import type { PaymentPayload, WebhookEvent } from '../model/webhooks/delivery.ts';
import { CONFIGURED_ENDPOINT } from '../model/webhooks/webhook-endpoint.ts';
import type { DeliveryDraft, EndpointFilter, ObservationRules } from '../store/ports.ts';

/** Who hears of events besides the endpoints of a wallet, and the time. */
export interface DeliveryRuleOptions {
  /** The events of the configured receiver, which hears of every wallet; null where none is configured. */
  readonly configured: readonly WebhookEvent[] | null;
  readonly clock: Clock;
}

/** Returns the rule by which a payment gets its delivery, and the endpoints that hear of it (docs/decisions.md 126). */
export function deliveryRule(options: DeliveryRuleOptions): ObservationRules['deliver'] {
  return (payment, walletId, endpoints) => {
    const to = hearers(eventOf(payment), endpoints, options);
    if (to.length === 0) return null;
    return { ...deliveryDraft(payment, walletId, options.clock.now()), endpoints: to };
  };
}

/** Returns the ids of the endpoints that hear of an event now, the configured one first. */
export function hearers(
  event: WebhookEvent,
  endpoints: readonly EndpointFilter[],
  { configured, clock }: DeliveryRuleOptions,
): string[] {
  const nowMs = clock.now();
  const hearing = endpoints
    .filter(
      ({ events, expiresAtMs }) => events.includes(event) && (expiresAtMs ?? nowMs + 1) > nowMs,
    )
    .map(({ id }) => id);
  return configured?.includes(event) ? [CONFIGURED_ENDPOINT, ...hearing] : hearing;
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
  const payload: PaymentPayload = {
    ...encodePayment(payment),
    type,
    timestamp: new Date(atMs).toISOString(),
    user_pk: userPk,
  };
  const id = webhookId(`${userPk}/${payment.index}${NAME_ENDS[type]}`);
  return { id, event: type, body: JSON.stringify(payload), createdAtMs: nowMs };
}

/** Returns the webhook-id of what has this name. */
export function webhookId(name: string): string {
  return `msg_${createHash('sha256').update(name).digest('hex').slice(0, 40)}`;
}

type PaymentEvent = PaymentPayload['type'];

/** What tells the webhook-ids of a payment's events apart. */
const NAME_ENDS: Readonly<Record<PaymentEvent, string>> = {
  'payment.finalized': '',
  'payment.held': '/held',
  'payment.approval_requested': '/approval',
};

function eventOf(payment: Payment): PaymentEvent {
  if (isAwaitingApproval(payment)) return 'payment.approval_requested';
  return isHeld(payment) ? 'payment.held' : 'payment.finalized';
}
