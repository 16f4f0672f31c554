import { z } from 'zod';
import { once } from '../../../lib/once.ts';
import { idInput, timestamp } from '../../../model/text.ts';
import { attemptJson, DELIVERY_STATES, deliveryJson } from '../../../model/webhooks/delivery.ts';
import { endpointIdInput } from '../../../model/webhooks/webhook-endpoint.ts';
import { attemptsOf, deliveriesOf, redeliver } from '../../../wallet/read/deliveries.ts';
import { given, one, withRules } from '../../body-rules.ts';
import { exampleEndpoint, exampleOfferPayment, exampleSentWebhook } from '../../examples.ts';
import { integerQuery, integerQueryOr } from '../../query.ts';
import { get, post } from '../../route.ts';

/** The page size of the delivery log (docs/api.md, Limits). */
const DELIVERIES_LIMIT = { default: 50, least: 1, most: 500 };
/** The page size of attempts, each of which may hold 4 KiB of an answer (docs/api.md, Limits). */
const ATTEMPTS_LIMIT = { default: 20, least: 1, most: 100 };

const deliveryIdInput = once(() => idInput(200));

const exampleDelivery = {
  id: 'msg_6df3ebf08cc49a243977e810ea60fb151f7614e2',
  endpoint: exampleEndpoint.id,
  type: 'payment.finalized' as const,
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
  get('/v2/webhooks/deliveries', 'webhooks', {
    access: 'get_updated_payments',
    ofWallet: true,
    summary: 'List webhook deliveries of the wallet, newest first',
    query: () => ({
      state: z.enum(DELIVERY_STATES).optional().describe('Only deliveries in this state.'),
      endpoint: endpointIdInput().optional().describe('Only deliveries to this endpoint.'),
      limit: integerQueryOr(DELIVERIES_LIMIT.default, DELIVERIES_LIMIT).describe(
        'The largest number of deliveries in the answer.',
      ),
      before: idInput(301)
        .optional()
        .describe('Only older deliveries: `next` of the page before, or a webhook-id.'),
    }),
    response: () => ({
      deliveries: z.array(deliveryJson()).describe('The deliveries.'),
      next: z
        .string()
        .nullable()
        .describe('Pass it as `before` for the next page; null when this is the last.'),
    }),
    example: {
      query: { state: 'failed' },
      response: { deliveries: [exampleDelivery], next: null },
    },
    handler: async ({ session }, { query }) => {
      const { limit, state, endpoint } = query;
      const deliveries = await deliveriesOf(session, {
        state: state ?? null,
        endpoint: endpoint ?? null,
        limit: limit + 1,
        before: query.before === undefined ? null : cursorOf(query.before),
      });
      const page = deliveries.slice(0, limit);
      const last = deliveries.length > limit ? page.at(-1) : undefined;
      return { deliveries: page, next: last ? `${last.id}/${last.endpoint}` : null };
    },
  }),
  get('/v2/webhooks/attempts', 'webhooks', {
    access: 'owner',
    summary: 'List attempts to send deliveries, oldest first',
    description: 'With what the receiver answered. The newest 20 of each delivery are kept.',
    query: () => ({
      id: deliveryIdInput().optional().describe('Only attempts of this webhook-id.'),
      endpoint: endpointIdInput().optional().describe('Only attempts to this endpoint.'),
      after: integerQuery().optional().describe('Only attempts with a greater `number`.'),
      limit: integerQueryOr(ATTEMPTS_LIMIT.default, ATTEMPTS_LIMIT).describe(
        'The largest number of attempts in the answer.',
      ),
    }),
    response: () => ({
      attempts: z.array(attemptJson()).describe('The attempts.'),
    }),
    errors: ['notFound'],
    example: {
      query: { id: exampleDelivery.id },
      response: {
        attempts: [
          {
            number: 12,
            id: exampleDelivery.id,
            endpoint: exampleDelivery.endpoint,
            type: exampleDelivery.type,
            index: exampleDelivery.index,
            at: exampleDelivery.created_at,
            duration_ms: 14,
            http_status: 500,
            error: 'answered 500',
            answer: 'Internal Server Error',
            request: exampleSentWebhook,
          },
        ],
      },
    },
    handler: async ({ session }, { query }) => ({
      attempts: await attemptsOf(session, {
        id: query.id ?? null,
        endpoint: query.endpoint ?? null,
        after: query.after ?? 0,
        limit: query.limit,
      }),
    }),
  }),
  post('/v2/webhooks/redeliver', 'webhooks', {
    access: 'manage_webhooks',
    ofWallet: true,
    summary: 'Send deliveries again',
    description:
      'Sends the deliveries of one webhook-id, or all that were created since a time. The webhook-id stays the same. What was for an endpoint that is deleted is not sent. A client may do this 60 times at once, then once a second by `id`; 3 times, then once a minute by `since`.',
    body: () =>
      withRules(
        z.object({
          id: deliveryIdInput()
            .optional()
            .describe('The webhook-id of the deliveries to send again.'),
          since: timestamp()
            .optional()
            .describe(
              'Send all deliveries again that were created at this time or later, in milliseconds.',
            ),
          endpoint: endpointIdInput()
            .optional()
            .describe('Only to this endpoint; to all unless given.'),
        }),
        [one(given('id'), given('since')), null, 'must hold either id or since'],
      ),
    response: () => ({
      redelivered: z.int().min(0).describe('Deliveries that will be sent again.'),
    }),
    errors: ['notFound'],
    example: { body: { id: exampleDelivery.id }, response: { redelivered: 1 } },
    handler: async ({ session, parts }, { body }) => {
      if (!session.isOwner) {
        parts.webhooks.redeliveries.take(session.caller.id, body.id === undefined ? 'since' : 'id');
      }
      const redelivered = await redeliver(
        session,
        { id: body.id ?? null, sinceMs: body.since ?? 0, endpoint: body.endpoint ?? null },
        parts.clock.now(),
      );
      parts.webhooks.wake();
      return { redelivered };
    },
  }),
];

/** Reads a place in the list: a webhook-id, with an endpoint after a slash or without. */
function cursorOf(text: string): { readonly id: string; readonly endpoint: string | null } {
  const [id = '', endpoint] = text.split('/', 2);
  return { id, endpoint: endpoint ?? null };
}
