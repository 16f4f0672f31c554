import type { z } from 'zod';
import {
  approvalPayload,
  finalizedPayload,
  heldPayload,
  lowBudgetPayload,
  type TestPayload,
  testPayload,
  type WebhookEvent,
} from '../../model/webhooks/delivery.ts';
import {
  exampleAwaitingPayment,
  exampleHeldPayment,
  exampleLowClient,
  examplePayment,
  exampleTestPayment,
} from '../examples.ts';
import { type Json, jsonSchema, type Schemas } from './json-schema.ts';
import { ADDITION, WEBHOOK_TAG } from './words.ts';

/** What holds for the attempts of every notice of a payment. */
export const ATTEMPTS =
  'There are three attempts, at 0, about 2 and about 8 seconds; after that `POST /v2/webhooks/redeliver` sends it again. It can arrive more than once.';
/** What holds for the headers of every notice. */
export const SIGNED = 'Only where the endpoint has a secret.';
const SIGNING_HEADERS: readonly (readonly [string, string, Json, string])[] = [
  [
    'webhook-id',
    'Names the delivery, the same over all attempts: handle each id once.',
    { type: 'string' },
    'msg_6df3ebf08cc49a243977e810ea60fb151f7614e2',
  ],
  [
    'webhook-timestamp',
    'Seconds since the UNIX epoch at the attempt; reject old ones.',
    { type: 'string', pattern: '^[0-9]+$' },
    '1764000006',
  ],
  [
    'webhook-signature',
    '`v1,` and base64 of HMAC-SHA256, keyed with the secret, over `<webhook-id>.<webhook-timestamp>.<body>`.',
    { type: 'string' },
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
];

/** Returns the document's `webhooks`: the requests that the sidecar sends to endpoints (Standard Webhooks). */
export function webhooks(schemas: Schemas): Json {
  const hooks: readonly WebhookTerms[] = [
    {
      type: 'payment.finalized',
      payload: finalizedPayload(),
      resource: examplePayment,
      summary: 'Tell that a payment is completed or failed',
      description: `Sent to \`--webhook-url\`, and to the endpoints of the wallet, for every payment that was made or issued through the sidecar. ${ATTEMPTS}`,
    },
    {
      type: 'payment.held',
      payload: heldPayload(),
      resource: exampleHeldPayment,
      summary: 'Tell that the money of a hold invoice has arrived',
      description: `Sent only for invoices that were created with \`payment_hash\`, with a \`webhook-id\` of its own; the payment is still pending. \`payment.finalized\` follows when it is settled or canceled. ${ATTEMPTS} ${ADDITION}`,
    },
    {
      type: 'payment.approval_requested',
      payload: approvalPayload(),
      resource: exampleAwaitingPayment,
      summary: 'Tell that a payment waits for approval',
      description: `Sent for a payment that waits for approval, with a \`webhook-id\` of its own; it is still pending, and nothing was sent. \`payment.finalized\` follows. ${ATTEMPTS} ${ADDITION}`,
    },
    {
      type: 'client.budget_low',
      payload: lowBudgetPayload(),
      resource: exampleLowClient,
      at: 1764000006000,
      summary: 'Tell that little is left of the budget of a client',
      description: `Sent once in a period of the budget, when a payment leaves at most 20% of it, what is reserved included; again after the budget was changed. ${ATTEMPTS} ${ADDITION}`,
    },
    {
      type: 'webhook.test',
      payload: testPayload(),
      resource: exampleTestPayment,
      summary: 'Test that a receiver takes deliveries',
      description: `Sent only by \`POST /v2/webhooks/endpoints/test\`, and once. It tells of no payment: it has failed, its amount is 0 and its index does not exist. ${ADDITION}`,
    },
  ];
  return Object.fromEntries(hooks.map((terms) => [terms.type, webhook(schemas, terms)]));
}

interface WebhookTerms {
  readonly type: WebhookEvent | TestPayload['type'];
  readonly payload: z.ZodType;
  /** What it tells of, and when it was, in milliseconds; that of a payment unless given. */
  readonly resource: Json & { readonly updated_at?: number };
  readonly at?: number;
  readonly summary: string;
  readonly description: string;
}

function webhook(schemas: Schemas, terms: WebhookTerms): Json {
  const { type, payload, resource, at = resource.updated_at ?? 0, summary, description } = terms;
  return {
    post: {
      operationId: type.replace('.', '_'),
      tags: [WEBHOOK_TAG],
      summary,
      description,
      security: [{}],
      parameters: SIGNING_HEADERS.map(([name, says, schema, example]) => ({
        name,
        in: 'header',
        required: false,
        description: `${says} ${SIGNED}`,
        schema,
        example,
      })),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: jsonSchema(payload, 'answer', schemas),
            example: {
              ...resource,
              type,
              timestamp: new Date(at).toISOString(),
              user_pk: '4cc749d1b95e78ad385b5cd0b1372b5683e7a8ac105a988d31aa1db218a2e4b6',
            },
          },
        },
      },
      responses: {
        200: { description: 'Taken. Only this status counts; redirects are not followed.' },
        default: { description: 'Not taken.' },
      },
    },
  };
}
