import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { Parsed } from '../parsed.ts';
import { idInput, nameInput, timestamp } from '../text.ts';
import { parseWebUrl } from '../web-url.ts';
import { DELIVERY_EVENTS } from './delivery.ts';
import { parseWebhookSecret } from './webhook-secret.ts';

/** The id of the endpoint that `--webhook-url` names. It belongs to every wallet, and is in no store. */
export const CONFIGURED_ENDPOINT = 'configured';
/** The most endpoints of a wallet, besides the configured one (docs/api.md, Limits). */
export const MOST_ENDPOINTS = 16;
/** For how many seconds an endpoint may be kept without being renewed (docs/decisions.md 129). */
const LEASE_SECS = { least: 10, most: 86_400 };

const URL_MAX_CHARACTERS = 2_000;
/** No secret is longer than this, in characters: 64 bytes are 88 in base64. */
const SECRET_MAX_CHARACTERS = 100;
/** The longest description of an endpoint, in UTF-8 bytes. */
const DESCRIPTION_MAX_BYTES = 200;

/** The id of an endpoint in a request. */
export const endpointIdInput = once(() =>
  idInput(100).describe('The endpoint, as `GET /v2/webhooks/endpoints` names it.'),
);

/** The URL of an endpoint in a request, by the rules of `--webhook-url`. */
export const endpointUrlInput = once(() =>
  z
    .string()
    .max(URL_MAX_CHARACTERS)
    .transform((text, context) => valueOr(parseWebUrl(text), context))
    .meta({
      description: 'Where deliveries are sent: an http or https URL.',
      examples: ['https://shop.example/hook'],
      accepts: { type: 'string', maxLength: URL_MAX_CHARACTERS },
    }),
);

/** A signing secret in a request; base64 without prefix inside the program. The message never repeats it. */
export const endpointSecretInput = once(() =>
  z
    .string()
    .max(SECRET_MAX_CHARACTERS)
    .transform((text, context) => valueOr(parseWebhookSecret(text), context))
    .meta({
      description:
        'Signing secret: base64 of 24 to 64 bytes, with or without `whsec_`. Without it one is drawn.',
      accepts: { type: 'string', maxLength: SECRET_MAX_CHARACTERS },
    }),
);

/** The events of an endpoint in a request. */
export const endpointEventsInput = once(() =>
  z
    .array(z.enum(DELIVERY_EVENTS))
    .min(1)
    .max(DELIVERY_EVENTS.length)
    .describe('The events that it is told of; all of this version unless given.'),
);

/** What an endpoint is for, in a request. */
export const endpointDescriptionInput = once(() =>
  nameInput(DESCRIPTION_MAX_BYTES).describe('Name for people.'),
);

/** How long an endpoint is kept without being renewed, in a request. */
export const leaseSecsInput = once(() =>
  z
    .int()
    .min(LEASE_SECS.least)
    .max(LEASE_SECS.most)
    .describe('Seconds after which it is deleted unless it is renewed.'),
);

function valueOr<T>(parsed: Parsed<T>, context: z.RefinementCtx): T {
  if ('value' in parsed) return parsed.value;
  context.addIssue({ code: 'custom', message: parsed.problem });
  return z.NEVER;
}

/** A webhook endpoint in an answer (docs/api.md, Webhook endpoint). It never holds the secret. */
export const endpointJson = once(() =>
  z
    .object({
      id: z
        .string()
        .describe('`configured` for the one of `--webhook-url`, which cannot be deleted here.'),
      url: z.string().describe('Where deliveries are sent.'),
      events: z.array(z.enum(DELIVERY_EVENTS)).describe('The events it is told of.'),
      description: z.string().nullable().describe('Name for people.'),
      signed: z
        .boolean()
        .describe('Whether deliveries are signed. Only the configured one may have no secret.'),
      created_at: timestamp()
        .nullable()
        .describe('When it was created, in milliseconds; null for the configured one.'),
      expires_at: timestamp()
        .nullable()
        .describe('When it is deleted unless it is renewed, in milliseconds; null for never.'),
    })
    .meta({ id: 'WebhookEndpoint', description: 'A place where deliveries are sent.' }),
);
export type EndpointJson = z.infer<ReturnType<typeof endpointJson>>;
