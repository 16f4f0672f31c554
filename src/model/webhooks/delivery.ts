import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { clientInfoJson } from '../clients/client.ts';
import { paymentJson } from '../payment.ts';
import { hexOutput, timestamp } from '../text.ts';

/**
 * States of a webhook delivery. It is `failed` after three attempts, until it is sent again (docs/decisions.md 92), and
 * `canceled` where its endpoint was deleted before (docs/decisions.md 127).
 */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'canceled'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The events that webhooks tell of (docs/webhooks.md, Events). */
export const DELIVERY_EVENTS = [
  'payment.finalized',
  'payment.held',
  'payment.approval_requested',
  'client.budget_low',
] as const;
export type WebhookEvent = (typeof DELIVERY_EVENTS)[number];

/** What the bodies of webhooks hold besides a resource: the type, and what tells wallets and times apart. */
function besides<Type extends string>(type: Type) {
  return {
    type: z.literal(type).describe('The event.'),
    timestamp: z.iso.datetime().describe('When it was, in ISO 8601.'),
    user_pk: hexOutput(32).describe('The wallet that it happened in.'),
  };
}

function payload<Type extends string>(type: Type) {
  return paymentJson().extend(besides(type));
}

/** The body of a `payment.finalized` webhook: the payment and three fields (docs/webhooks.md, Payload). */
export const finalizedPayload = once(() =>
  payload('payment.finalized').meta({
    id: 'PaymentFinalized',
    description: 'Body of the webhook: the Payment, and three fields more.',
  }),
);

/** The body of a `payment.held` webhook (docs/decisions.md 117). */
export const heldPayload = once(() =>
  payload('payment.held').meta({
    id: 'PaymentHeld',
    description:
      'Body of the webhook of a held payment: the pending Payment, and three fields more.',
  }),
);

/** The body of a `payment.approval_requested` webhook (docs/decisions.md 187). */
export const approvalPayload = once(() =>
  payload('payment.approval_requested').meta({
    id: 'PaymentApprovalRequested',
    description:
      'Body of the webhook of a payment that waits: the pending Payment, and three fields more.',
  }),
);

/** The body of a `client.budget_low` webhook (docs/decisions.md 190). */
export const lowBudgetPayload = once(() =>
  clientInfoJson().extend(besides('client.budget_low')).meta({
    id: 'ClientBudgetLow',
    description: 'Body of the webhook of a budget that is low: the client, and three fields more.',
  }),
);
export type LowBudgetPayload = z.infer<ReturnType<typeof lowBudgetPayload>>;

/** The body of a test delivery (docs/decisions.md 128). */
export const testPayload = once(() =>
  payload('webhook.test').meta({
    id: 'WebhookTest',
    description: 'Body of a test delivery: a made up, failed Payment of nothing.',
  }),
);
export type TestPayload = z.infer<ReturnType<typeof testPayload>>;
/** The body of a webhook that tells of a payment. */
export type PaymentPayload =
  | z.infer<ReturnType<typeof finalizedPayload>>
  | z.infer<ReturnType<typeof heldPayload>>
  | z.infer<ReturnType<typeof approvalPayload>>;
/** The body of a webhook. */
export type WebhookPayload = PaymentPayload | LowBudgetPayload;

function subject() {
  return z
    .string()
    .describe('Index of the payment; of `client.budget_low` the public key of the client.');
}

/** A webhook delivery in an answer (docs/api.md, Delivery). */
export const deliveryJson = once(() =>
  z
    .object({
      id: z.string().describe('The webhook-id, the same over all attempts and all endpoints.'),
      endpoint: z.string().describe('The endpoint that it is for.'),
      type: z.enum(DELIVERY_EVENTS).describe('The event.'),
      index: subject(),
      state: z
        .enum(DELIVERY_STATES)
        .describe(
          '`failed` after three attempts, until it is sent again; `canceled` where its endpoint was deleted first.',
        ),
      attempts: z
        .int()
        .min(0)
        .describe(
          'Attempts so far, those before it was sent again too, as far as they are kept: the newest 20.',
        ),
      last_error: z
        .string()
        .nullable()
        .describe('Why the latest attempt failed; null where none did.'),
      next_attempt_at: timestamp()
        .nullable()
        .describe('When the next attempt is due, in milliseconds; null for none.'),
      delivered_at: timestamp()
        .nullable()
        .describe('When the receiver took it, in milliseconds; null before.'),
      created_at: timestamp().describe('When the event was, in milliseconds.'),
    })
    .meta({ id: 'Delivery', description: 'A webhook delivery and how it stands.' }),
);
export type DeliveryJson = z.infer<ReturnType<typeof deliveryJson>>;

/** One try of sending a delivery, in an answer (docs/api.md, Attempt). It holds no secret. */
export const attemptJson = once(() =>
  z
    .object({
      number: z.int().min(1).describe('Its place in the order of all attempts.'),
      id: z.string().describe('The webhook-id.'),
      endpoint: z.string().describe('The endpoint that it was sent to.'),
      type: z.enum(DELIVERY_EVENTS).describe('The event.'),
      index: subject(),
      at: timestamp().describe('When it began, in milliseconds.'),
      ...outcome(),
      request: sentRequest(),
    })
    .meta({ id: 'DeliveryAttempt', description: 'One try of sending a delivery.' }),
);
export type AttemptJson = z.infer<ReturnType<typeof attemptJson>>;

/** How a test delivery ended, in an answer (docs/decisions.md 128). */
export const testedJson = once(() =>
  z.object({
    id: z.string().describe('The webhook-id of the test.'),
    delivered: z.boolean().describe('Whether the receiver answered 200.'),
    ...outcome(),
    request: sentRequest(),
  }),
);

function outcome() {
  return {
    duration_ms: z.int().min(0).describe('How long it took, in milliseconds.'),
    http_status: z.int().nullable().describe('Status of the answer; null where none came.'),
    error: z.string().nullable().describe('Why it failed; null where it was delivered.'),
    answer: z
      .string()
      .nullable()
      .describe("The first 4 KiB of the answer's body, as text; null where none came."),
  };
}

function sentRequest() {
  return z
    .object({
      headers: z
        .record(z.string(), z.string())
        .describe('The headers that the sidecar set, with the signature.'),
      body: z.string().describe('The exact body, which is signed.'),
    })
    .describe('What was sent.');
}
