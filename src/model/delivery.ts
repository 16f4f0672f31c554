import { z } from 'zod';
import { paymentJson } from './payment.ts';
import { hexOutput, timestamp } from './text.ts';

/** States of a webhook delivery. It is `failed` after three attempts, until it is sent again (docs/decisions.md 92). */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The events that webhooks tell of (docs/webhooks.md, Events). */
export type WebhookEvent = 'payment.finalized' | 'payment.held';

/** What the bodies of all webhooks have beside the payment and `type`. */
const shared = {
  timestamp: z.iso.datetime().meta({ description: 'When the event was, in ISO 8601.' }),
  user_pk: hexOutput(32).meta({
    description: 'The wallet that the payment belongs to; tells several wallets apart.',
  }),
};

/** The body of a `payment.finalized` webhook: the payment and three fields (docs/webhooks.md, Payload). */
export const finalizedPayload = paymentJson
  .extend({
    type: z.literal('payment.finalized').meta({ description: 'Always `payment.finalized`.' }),
    ...shared,
  })
  .meta({
    id: 'PaymentFinalized',
    description: 'Body of the webhook: the Payment, and three fields more.',
  });

/** The body of a `payment.held` webhook (docs/decisions.md 117). */
export const heldPayload = paymentJson
  .extend({
    type: z.literal('payment.held').meta({ description: 'Always `payment.held`.' }),
    ...shared,
  })
  .meta({
    id: 'PaymentHeld',
    description:
      'Body of the webhook of a held payment: the pending Payment, and three fields more.',
  });
export type WebhookPayload = z.infer<typeof finalizedPayload> | z.infer<typeof heldPayload>;

/** A webhook delivery in an answer (docs/api.md, Delivery). */
export const deliveryJson = z
  .object({
    id: z.string().meta({ description: 'The webhook-id, the same over all attempts.' }),
    index: z.string().meta({ description: 'Index of the payment.' }),
    state: z.enum(DELIVERY_STATES).meta({
      description: '`failed` after three attempts, until it is sent again.',
    }),
    attempts: z.int().min(0).meta({ description: 'Attempts so far.' }),
    last_error: z
      .string()
      .nullable()
      .meta({ description: 'Why the latest attempt failed; null where none did.' }),
    next_attempt_at: timestamp
      .nullable()
      .meta({ description: 'When the next attempt is due, in milliseconds; null for none.' }),
    delivered_at: timestamp
      .nullable()
      .meta({ description: 'When the receiver took it, in milliseconds; null before.' }),
    created_at: timestamp.meta({
      description: 'When the payment was finalized or held, in milliseconds.',
    }),
  })
  .meta({ id: 'Delivery', description: 'A webhook delivery and how it stands.' });
export type DeliveryJson = z.infer<typeof deliveryJson>;
