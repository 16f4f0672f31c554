import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { testedJson } from '../../../model/webhooks/delivery.ts';
import {
  CONFIGURED_ENDPOINT,
  type EndpointJson,
  endpointJson,
} from '../../../model/webhooks/webhook-endpoint.ts';
import { parseWebhookSecret } from '../../../model/webhooks/webhook-secret.ts';
import { CallFailed } from '../../call-failed.ts';
import { argument, type Finding, flag, group, type Word } from '../../command.ts';
import { readName, readSeconds, readWebUrl } from '../../inputs.ts';
import { namesId, theOne } from '../../naming.ts';
import { oneCall } from '../../one-call.ts';
import { eventsFlag, wideFlag } from '../../options.ts';
import { type Column, fields } from '../../terminal/table.ts';
import { minute } from '../../terminal/words.ts';
import { outcomeLines } from './outcome.ts';

const COLUMNS: readonly Column<EndpointJson>[] = [
  { title: 'Endpoint', of: ({ id }) => id, least: 11, cut: 'middle' },
  { title: 'Events', of: ({ events }) => events.join(', '), leaves: 1 },
  { title: 'Signed', of: ({ signed }) => (signed ? 'yes' : 'no'), leaves: 3 },
  { title: 'Until', of: ({ expires_at }) => minute(expires_at, 'no limit'), leaves: 2 },
  { title: 'Description', of: ({ description }) => description ?? '', most: 30, leaves: 4 },
  { title: 'URL', of: ({ url }) => url, least: 15 },
];

const ABOUT_ENDPOINT =
  'the endpoint: its id, as "webhooks endpoints list" shows it, or at least 4 of its first or last characters';

/** Returns the id of an endpoint named by its ends. A whole id is taken as it is: it may be a deleted one's. */
async function findEndpoint(typed: string, { io, ask }: Finding): Promise<string> {
  if (typed === CONFIGURED_ENDPOINT || /^ep_[0-9a-f]{32}$/.test(typed)) return typed;
  const { value } = await ask((sidecar) => sidecar.webhookEndpoints(), endpointsJson());
  const fitting = value.endpoints.filter(({ id }) => namesId(typed, id));
  const none = `No endpoint has an id that begins or ends with "${typed}": "wallet-sidecar webhooks endpoints list" shows them.`;
  return theOne(io, fitting, { columns: COLUMNS, none, typed }).id;
}

/** Returns the flag that names an endpoint, or "configured" for the one of --webhook-url. */
export function endpointFlag(about: string): Word<string | undefined> {
  return { ...flag('--endpoint <endpoint>', about, readName), find: findEndpoint };
}

const endpointsJson = () => z.object({ endpoints: z.array(endpointJson()) });

const list = oneCall('list', {
  about: "List the wallet's webhook endpoints.",
  words: { wide: wideFlag },
  examples: ['webhooks endpoints list'],
  call: (sidecar) => sidecar.webhookEndpoints(),
  answer: endpointsJson,
  lines: ({ endpoints }, _, { table }) =>
    endpoints.length === 0
      ? ['No endpoints: add one with "wallet-sidecar webhooks endpoints add URL".']
      : table(COLUMNS, endpoints),
});

const add = oneCall('add', {
  about:
    "Send webhooks of the wallet's payments to a URL from now on. Prints the signing secret, which is shown only now.",
  words: {
    url: argument('<url>', 'where to send them', readWebUrl),
    events: eventsFlag,
    description: flag('--description <text>', 'name for people'),
    lease_secs: flag(
      '--lease <duration>',
      'delete it after this long, such as 1d, unless it is renewed over HTTP; required of a client',
      readSeconds,
    ),
    secret: flag(
      '--secret-path <file>',
      'file that holds the signing secret (default: a new one is drawn)',
      readSecretFile,
    ),
  },
  examples: [
    'webhooks endpoints add https://shop.example/hook',
    'webhooks endpoints add http://127.0.0.1:8080/hook --events payment.finalized',
  ],
  call: (sidecar, given) => sidecar.addWebhookEndpoint(given),
  answer: () => endpointJson().extend({ secret: z.string() }),
  lines: (added) =>
    fields({
      Endpoint: added.id,
      URL: added.url,
      Events: added.events.join(', '),
      Until: added.expires_at === null ? null : minute(added.expires_at),
      Description: added.description,
      Secret: added.secret,
    }),
  after: (_, io) => io.stderr('Keep the secret: it is not shown again, and the receiver needs it.'),
});

const remove = oneCall('remove', {
  about: 'Delete an endpoint. What is pending for it is not sent any more.',
  words: {
    id: { ...argument('<endpoint>', ABOUT_ENDPOINT, readName), find: findEndpoint },
  },
  examples: ['webhooks endpoints remove ep_2a2a...'],
  call: (sidecar, given) => sidecar.deleteWebhookEndpoint(given),
  answer: () => z.object({ canceled: z.int() }),
  lines: ({ canceled }) => [`Deleted. Deliveries canceled: ${canceled}`],
});

const test = oneCall('test', {
  about:
    'Send a signed message of type webhook.test to an endpoint, and show its answer; exit code 1 unless it answers 200.',
  words: {
    id: {
      ...argument(
        '<endpoint>',
        `${ABOUT_ENDPOINT}, or "configured" for that of --webhook-url`,
        readName,
      ),
      find: findEndpoint,
    },
  },
  examples: ['webhooks endpoints test ep_2a2a...', 'webhooks endpoints test configured'],
  call: (sidecar, given) => sidecar.testWebhookEndpoint(given),
  answer: testedJson,
  lines: outcomeLines,
  after: ({ delivered, error }) => {
    if (delivered) return;
    throw new CallFailed(`The test was not delivered: ${error ?? 'the receiver did not take it'}.`);
  },
});

/** Adds `webhooks endpoints`: commands that say where webhooks are sent. */
export const addEndpoints = group(
  'endpoints',
  {
    about: "Where webhooks of the wallet's payments are sent, besides --webhook-url.",
    examples: [
      'webhooks endpoints add https://shop.example/hook',
      'webhooks endpoints test ep_2a2a...',
    ],
  },
  [list, add, remove, test],
);

function readSecretFile(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch {
    throw new InvalidArgumentError('The file cannot be read');
  }
  const parsed = parseWebhookSecret(text);
  if ('value' in parsed) return parsed.value;
  throw new InvalidArgumentError(`The secret in the file ${parsed.problem}`);
}
