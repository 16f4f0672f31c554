import { z } from 'zod';
import { DELIVERY_STATES, deliveryJson } from '../../model/delivery.ts';
import { timestamp } from '../../model/text.ts';
import { deliveriesOf, redeliver } from '../../wallet/deliveries.ts';
import { integerQuery } from '../query.ts';
import { route } from '../route.ts';
import { examplePayment } from './examples.ts';

/** Page size of the delivery log. */
const DELIVERIES_LIMIT = { default: 50, most: 500 };

const exampleDelivery = {
  id: `msg_${'2a'.repeat(16)}`,
  index: examplePayment.index,
  state: 'failed' as const,
  attempts: 3,
  last_error: 'answered 500',
  next_attempt_at: null,
  delivered_at: null,
  created_at: 1764000000400,
};

/** The delivery log (decisions section 11, additions). */
export const webhookRoutes = [
  route({
    method: 'get',
    path: '/v2/webhooks/deliveries',
    group: 'webhooks',
    access: 'get_updated_payments',
    summary: "List webhook deliveries of the wallet's payments, newest first",
    addition: true,
    query: z.object({
      state: z.enum(DELIVERY_STATES).optional(),
      limit: integerQuery(1, DELIVERIES_LIMIT.most).default(DELIVERIES_LIMIT.default),
      before: z.string().max(200).optional().meta({ description: 'Exclusive; a delivery id.' }),
    }),
    response: z.object({ deliveries: z.array(deliveryJson) }),
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
    description: 'One by id, or every one created since a time. The webhook-id stays the same.',
    addition: true,
    body: z
      .object({ id: z.string().max(200).optional(), since: timestamp.optional() })
      .refine((body) => (body.id === undefined) !== (body.since === undefined), {
        message: 'give either id or since',
      }),
    response: z.object({ redelivered: z.int().min(0) }),
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
