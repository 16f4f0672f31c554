import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import {
  attemptJson,
  DELIVERY_STATES,
  type DeliveryJson,
  deliveryJson,
} from '../../../model/webhooks/delivery.ts';
import { argument, type Finding, flag, group, local } from '../../command.ts';
import { readName, readPast, readWholeIn } from '../../inputs.ts';
import { namesId, theOne } from '../../naming.ts';
import { oneCall } from '../../one-call.ts';
import { jsonFlag, wideFlag } from '../../options.ts';
import { type Column, fields } from '../../terminal/table.ts';
import { minute, moment } from '../../terminal/words.ts';
import { addEndpoints, endpointFlag } from './endpoints.ts';
import { outcomeLines } from './outcome.ts';
import { addVerify } from './verify.ts';

/** The most attempts of one webhook-id that are shown: 20 are kept for each endpoint. */
const MOST_SHOWN = 100;
/** The length of a new secret in bytes; 24 to 64 are allowed (docs/decisions.md 93). */
const SECRET_BYTES = 32;

const COLUMNS: readonly Column<DeliveryJson>[] = [
  { title: 'Delivery', of: ({ id }) => id, least: 11, cut: 'middle' },
  { title: 'Created', of: ({ created_at }) => minute(created_at) },
  { title: 'State', of: ({ state }) => state },
  { title: 'Attempts', of: ({ attempts }) => String(attempts), right: true, leaves: 3 },
  { title: 'Next attempt', of: ({ next_attempt_at }) => minute(next_attempt_at), leaves: 1 },
  { title: 'Last error', of: ({ last_error }) => last_error ?? '', most: 40, least: 15, leaves: 4 },
  { title: 'Endpoint', of: ({ endpoint }) => endpoint, least: 11, cut: 'middle', leaves: 5 },
  { title: 'About', of: ({ index }) => index, least: 11, cut: 'middle', leaves: 2 },
];

/** The most deliveries of an answer. */
const MOST_LISTED = 500;

/** Returns the id of a delivery that a person named by its ends. What fits none in the list is taken for a whole id. */
async function findDelivery(typed: string, { io, ask }: Finding): Promise<string> {
  if (/^msg_[0-9a-f]{40}$/.test(typed)) return typed;
  const { value } = await ask(
    (sidecar) => sidecar.webhookDeliveries({ limit: MOST_LISTED }),
    deliveriesJson(),
  );
  const fitting = value.deliveries.filter(({ id }) => namesId(typed, id));
  // A delivery to several endpoints has one id.
  const byId = new Map(fitting.map((delivery) => [delivery.id, delivery]));
  if (byId.size === 0) return typed;
  return theOne(io, [...byId.values()], { columns: COLUMNS, none: '', typed }).id;
}

const ABOUT_DELIVERY =
  'the delivery: its id, as "webhooks list" shows it, or at least 4 of its first or last characters';
const deliveriesJson = () => z.object({ deliveries: z.array(deliveryJson()) });

const list = oneCall('list', {
  about: 'List the webhooks of the wallet, newest first.',
  words: {
    wide: wideFlag,
    state: flag('--state <state>', 'only deliveries in this state', DELIVERY_STATES),
    limit: flag(
      '--limit <count>',
      'the largest number of deliveries to list, up to 500',
      readWholeIn(1, 500),
      50,
    ),
    endpoint: endpointFlag('only deliveries to this endpoint'),
    before: flag('--before <delivery>', 'continue the list after this delivery'),
  },
  examples: ['webhooks list --state failed --limit 10'],
  call: (sidecar, { wide: _, ...query }) => sidecar.webhookDeliveries(query),
  answer: deliveriesJson,
  lines: ({ deliveries }, _, { table }) =>
    deliveries.length === 0 ? ['No deliveries.'] : table(COLUMNS, deliveries),
});

const show = oneCall('show', {
  about: 'Show each attempt of a delivery: what was sent, and what was answered.',
  words: {
    id: { ...argument('<delivery>', ABOUT_DELIVERY, readName), find: findDelivery },
    endpoint: endpointFlag('only attempts to this endpoint'),
  },
  examples: ['webhooks show msg_2a2a...'],
  call: (sidecar, given) => sidecar.webhookAttempts({ ...given, limit: MOST_SHOWN }),
  answer: () => z.object({ attempts: z.array(attemptJson()) }),
  lines: ({ attempts }) =>
    attempts.length === 0
      ? ['No attempts of this delivery.']
      : attempts.flatMap((attempt, at) => [
          ...(at === 0 ? [] : ['']),
          ...fields({
            Attempt: moment(attempt.at),
            Endpoint: attempt.endpoint,
            Event: attempt.type,
            About: attempt.index,
          }),
          ...outcomeLines(attempt),
        ]),
});

const redeliver = oneCall('redeliver', {
  about: 'Send one delivery again, or all that were created since a time.',
  words: {
    id: { ...argument('[delivery]', ABOUT_DELIVERY, readName), find: findDelivery },
    since: flag(
      '--since <time>',
      'all since this time, such as 2030-01-31, or 2h for 2 hours ago',
      readPast,
    ),
    endpoint: endpointFlag('only to this endpoint (default: to all)'),
  },
  examples: ['webhooks redeliver msg_2a2a...', 'webhooks redeliver --since 2h'],
  check: ({ id, since }) =>
    (id === undefined) === (since === undefined)
      ? 'give either the id of a delivery or --since'
      : null,
  call: (sidecar, given) => sidecar.redeliverWebhooks(given),
  answer: () => z.object({ redelivered: z.int() }),
  lines: ({ redelivered }) => [`Deliveries to be sent again: ${redelivered}`],
});

const secret = local(
  'secret',
  {
    about: 'Create a new signing secret for --webhook-secret and for the receiver.',
    words: { json: jsonFlag },
    examples: ['webhooks secret'],
  },
  ({ json }, { io }) => {
    const drawn = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    io.stdout(json ? JSON.stringify({ webhook_secret: drawn }) : drawn);
    io.stderr('Keep it secret: anyone who has it can sign webhooks that your receiver accepts.');
  },
);

/** Adds `webhooks`: commands for endpoints and deliveries, and that create secrets and check signatures. */
export const addWebhooks = group(
  'webhooks',
  {
    about: 'Webhook endpoints, deliveries, secrets and signatures.',
    examples: ['webhooks list --state failed', 'webhooks redeliver --since 1d'],
  },
  [addEndpoints, list, show, redeliver, addVerify, secret],
);
