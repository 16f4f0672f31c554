import { z } from 'zod';
import { DELIVERY_STATES, deliveryJson } from '../../model/delivery.ts';
import { timestamp } from '../../model/text.ts';
import { deliveriesOf, redeliver } from '../../wallet/deliveries.ts';
import { given } from '../body-rules.ts';
import { exampleOfferPayment } from '../examples.ts';
import { integerQueryOr } from '../query.ts';
import { route } from '../route.ts';

/** The page size of the delivery log (docs/api.md, Limits). */
const DELIVERIES_LIMIT = { default: 50, least: 1, most: 500 };

const exampleDelivery = {
  id: 'msg_6df3ebf08cc49a243977e810ea60fb151f7614e2',
  index: exampleOfferPayment.index,
  state: 'failed' as const,
  attempts: 3,
  last_error: 'answered 500',
  next_attempt_at: null,
  delivered_at: null,
  created_at: 1764000006758,
};

/** Routes of the delivery log (docs/decisions.md 92). */
export const webhookRoutes = [
  route({
    method: 'get',
    path: '/v2/webhooks/deliveries',
    group: 'webhooks',
    access: 'get_updated_payments',
    summary: "List webhook deliveries of the wallet's payments, newest first",
    addition: true,
    query: z.object({
      state: z
        .enum(DELIVERY_STATES)
        .optional()
        .meta({ description: 'Only deliveries in this state.' }),
      limit: integerQueryOr(DELIVERIES_LIMIT.default, DELIVERIES_LIMIT).meta({
        description: 'The largest number of deliveries in the answer.',
      }),
      before: z
        .string()
        .max(200)
        .optional()
        .meta({ description: 'Only deliveries older than the one with this id.' }),
    }),
    response: z.object({
      deliveries: z.array(deliveryJson).meta({ description: 'The deliveries.' }),
    }),
    example: { query: { state: 'failed' }, response: { deliveries: [exampleDelivery] } },
    handler: async ({ session }, { query }) => ({
      deliveries: await deliveriesOf(session, {
        state: query.state ?? null,
        limit: query.limit,
        before: query.before ?? null,
      }),
    }),
  }),
  route({
    method: 'post',
    path: '/v2/webhooks/redeliver',
    group: 'webhooks',
    access: 'get_updated_payments',
    summary: 'Send deliveries again',
    description:
      'Sends one delivery by its id, or all that were created since a time. The webhook-id stays the same.',
    addition: true,
    body: z
      .object({
        id: z.string().max(200).optional().meta({ description: 'The delivery to send again.' }),
        since: timestamp.optional().meta({
          description:
            'Send all deliveries again that were created at this time or later, in milliseconds.',
        }),
      })
      .refine((body) => (body.id === undefined) !== (body.since === undefined), {
        message: 'must hold either id or since',
      })
      .meta({ allOf: [{ oneOf: [given('id'), given('since')] }] }),
    response: z.object({
      redelivered: z.int().min(0).meta({ description: 'Deliveries that will be sent again.' }),
    }),
    errors: ['notFound'],
    example: { body: { id: exampleDelivery.id }, response: { redelivered: 1 } },
    handler: async ({ session, parts }, { body }) => {
      const which = body.id !== undefined ? { id: body.id } : { sinceMs: body.since ?? 0 };
      const redelivered = await redeliver(session, which, parts.clock.now());
      parts.wakeDispatcher();
      return { redelivered };
    },
  }),
];
