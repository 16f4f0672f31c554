import { z } from 'zod';
import { paymentJson } from './payment.ts';
import { hexOutput, timestamp } from './text.ts';

/** States of a webhook delivery; `failed` after three attempts, until it is sent again (decisions section 11). */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The body of a `payment.finalized` webhook: the Payment and three fields (contract, Payload). */
const webhookPayload = paymentJson
  .extend({
    type: z.literal('payment.finalized'),
    timestamp: z.iso.datetime(),
    user_pk: hexOutput(32),
  })
  .meta({ id: 'PaymentFinalized', description: 'Sent when a watched payment is finalized.' });
export type WebhookPayload = z.infer<typeof webhookPayload>;

/** A webhook delivery as the delivery log shows it (decisions section 11, an addition). */
export const deliveryJson = z
  .object({
    id: z.string().meta({ description: 'The webhook-id, the same over all attempts.' }),
    index: z.string().meta({ description: 'The payment.' }),
    state: z.enum(DELIVERY_STATES),
    attempts: z.int().min(0),
    last_error: z.string().nullable(),
    next_attempt_at: timestamp.nullable(),
    delivered_at: timestamp.nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Delivery', description: 'A webhook delivery and how it stands.' });
export type DeliveryJson = z.infer<typeof deliveryJson>;
