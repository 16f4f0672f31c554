import { z } from 'zod';
import { DELIVERY_EVENTS, testedJson } from '../../../model/webhooks/delivery.ts';
import {
  CONFIGURED_ENDPOINT,
  type EndpointJson,
  endpointDescriptionInput,
  endpointEventsInput,
  endpointIdInput,
  endpointJson,
  endpointSecretInput,
  endpointUrlInput,
  leaseSecsInput,
} from '../../../model/webhooks/webhook-endpoint.ts';
import type { EndpointRecord } from '../../../store/ports.ts';
import {
  addEndpoint,
  endpointNotFound,
  listEndpoints,
  removeEndpoint,
  renewEndpoint,
  requireEndpoint,
} from '../../../wallet/read/webhook-endpoints.ts';
import { exampleEndpoint, exampleSentWebhook } from '../../examples.ts';
import { get, post } from '../../route.ts';
import type { WebhookSender } from '../../webhook-sender.ts';

/** Routes for webhook endpoints (docs/decisions.md 126 and 162). */
export const webhookEndpointRoutes = [
  get('/v2/webhooks/endpoints', 'webhooks', {
    access: 'manage_webhooks',
    ofWallet: true,
    summary: "List the wallet's webhook endpoints",
    description: 'The one of `--webhook-url` comes first, as `configured`. Secrets are not shown.',
    response: () => ({
      endpoints: z.array(endpointJson()).describe('The endpoints, oldest first.'),
    }),
    example: { response: { endpoints: [exampleEndpoint] } },
    handler: async ({ session, parts }) => ({
      endpoints: [
        ...configuredEndpoint(parts.webhooks),
        ...(await listEndpoints(session)).map(encodeEndpoint),
      ],
    }),
  }),
  post('/v2/webhooks/endpoints', 'webhooks', {
    access: 'manage_webhooks',
    ofWallet: true,
    summary: 'Add a webhook endpoint',
    description:
      "It hears of this wallet's payments that end from now on. One that a client adds needs `lease_secs`. The secret is shown once and cannot be read again. To change it, add a second endpoint, and delete the first when the receiver knows the new one.",
    body: () => ({
      url: endpointUrlInput(),
      events: endpointEventsInput().optional(),
      secret: endpointSecretInput().optional(),
      description: endpointDescriptionInput().optional(),
      lease_secs: leaseSecsInput().optional(),
    }),
    response: () =>
      endpointJson().extend({
        secret: z.string().describe('The signing secret. Shown only now.'),
      }),
    example: {
      body: { url: exampleEndpoint.url, events: ['payment.finalized'] },
      response: {
        ...exampleEndpoint,
        secret: 'whsec_CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=',
      },
    },
    handler: async ({ session, parts }, { body }) => {
      const request = {
        url: body.url,
        events: body.events ?? DELIVERY_EVENTS,
        description: body.description ?? null,
        secret: body.secret ?? null,
        leaseSecs: body.lease_secs ?? null,
      };
      const endpoint = await addEndpoint(session, request, parts.clock.now());
      return { ...encodeEndpoint(endpoint), secret: `whsec_${endpoint.secret}` };
    },
  }),
  post('/v2/webhooks/endpoints/renew', 'webhooks', {
    access: 'manage_webhooks',
    ofWallet: true,
    summary: 'Keep an endpoint that was made with lease_secs',
    description: 'An endpoint that was made without `lease_secs` stays as it is.',
    body: () => ({ id: endpointIdInput(), lease_secs: leaseSecsInput() }),
    response: endpointJson,
    errors: ['notFound'],
    example: {
      body: { id: exampleEndpoint.id, lease_secs: 60 },
      response: { ...exampleEndpoint, expires_at: 1764000066758 },
    },
    handler: async ({ session, parts }, { body }) => {
      const lease = { id: body.id, leaseSecs: body.lease_secs };
      return encodeEndpoint(await renewEndpoint(session, lease, parts.clock.now()));
    },
  }),
  post('/v2/webhooks/endpoints/delete', 'webhooks', {
    access: 'manage_webhooks',
    ofWallet: true,
    summary: 'Delete a webhook endpoint',
    description:
      'What is pending for it is not sent any more, and stays in the list of deliveries as `canceled`.',
    body: () => ({ id: endpointIdInput() }),
    response: () => ({
      canceled: z.int().min(0).describe('Deliveries that will not be sent.'),
    }),
    errors: ['notFound'],
    example: { body: { id: exampleEndpoint.id }, response: { canceled: 0 } },
    handler: async ({ session, parts }, { body }) => {
      const canceled = await removeEndpoint(session, body.id);
      parts.webhooks.forget(body.id);
      return { canceled };
    },
  }),
  post('/v2/webhooks/endpoints/test', 'webhooks', {
    access: 'manage_webhooks',
    ofWallet: true,
    summary: 'Send a test delivery to an endpoint, and show its answer',
    description:
      "Sends one signed message of type `webhook.test` at once, whatever the endpoint's `events`: a failed payment of 0 sats that does not exist. A receiver that does not take it is no error: see `http_status`. It is sent once, and is in no list.",
    body: () => ({ id: endpointIdInput() }),
    response: testedJson,
    errors: ['notFound'],
    example: {
      body: { id: exampleEndpoint.id },
      response: {
        id: 'msg_test_2bd759d18059be2784323a7ace19c471',
        delivered: true,
        duration_ms: 9,
        http_status: 200,
        error: null,
        answer: 'ok',
        request: exampleSentWebhook,
      },
    },
    handler: async ({ session, parts, signal }, { body }) => {
      await requireEndpoint(session, body.id);
      const sent = await parts.webhooks.test(body.id, session.userPk, signal);
      if (sent === null) throw endpointNotFound();
      return {
        id: sent.id,
        delivered: sent.error === null,
        duration_ms: sent.durationMs,
        http_status: sent.httpStatus,
        error: sent.error,
        // A client could otherwise read what the sidecar's own network answers.
        answer: session.isOwner ? sent.answer : null,
        request: { headers: sent.headers, body: sent.body },
      };
    },
  }),
];

function encodeEndpoint(endpoint: EndpointRecord): EndpointJson {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: [...endpoint.events],
    description: endpoint.description,
    signed: true,
    created_at: endpoint.createdAtMs,
    expires_at: endpoint.expiresAtMs,
  };
}

function configuredEndpoint({ configured }: WebhookSender): EndpointJson[] {
  if (configured === null) return [];
  return [
    {
      id: CONFIGURED_ENDPOINT,
      url: configured.url,
      events: [...configured.events],
      description: null,
      signed: configured.signed,
      created_at: null,
      expires_at: null,
    },
  ];
}
