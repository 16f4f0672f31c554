import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { DELIVERY_EVENTS, type WebhookEvent } from '../../../../model/delivery.ts';
import { parseWebUrl } from '../../../../model/web-url.ts';
import { endpointJson } from '../../../../model/webhook-endpoint.ts';
import { parseWebhookSecret } from '../../../../model/webhook-secret.ts';
import { type ConnectionFlags, withConnection } from '../../../connection.ts';
import { withExamples } from '../../../examples.ts';
import { sidecarClient } from '../../../http.ts';
import { readNames } from '../../../inputs.ts';
import type { CliIo } from '../../../io.ts';
import { show } from '../../../terminal/show.ts';
import { fields } from '../../../terminal/table.ts';

const addedJson = endpointJson.extend({ secret: z.string() });

interface AddFlags extends ConnectionFlags {
  readonly events?: readonly WebhookEvent[];
  readonly description?: string;
  readonly secretPath?: string;
}

/** Adds `webhooks endpoints add`, which makes an endpoint and prints its secret. */
export function addEndpointsAdd(endpoints: Command, io: CliIo): void {
  const command = endpoints
    .command('add')
    .description(
      "Send webhooks of the wallet's payments to a URL from now on. Prints the signing secret, which is shown only now.",
    )
    .argument('<url>', 'where to send them', readWebUrl)
    .option(
      '--events <events>',
      `only these events, separated by commas: ${DELIVERY_EVENTS.join(', ')} (default: all)`,
      readNames(DELIVERY_EVENTS),
    )
    .option('--description <text>', 'name for people')
    .option(
      '--secret-path <file>',
      'file that holds the signing secret (default: a new one is drawn)',
      readSecretFile,
    );
  withExamples(
    withConnection(command),
    'webhooks endpoints add https://shop.example/hook',
    'webhooks endpoints add http://127.0.0.1:8080/hook --events payment.finalized',
  ).action(async (url: string, flags: AddFlags) => {
    const { events, description, secretPath: secret } = flags;
    const body = { url, events: events && [...events], description, secret };
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.addWebhookEndpoint(body),
      addedJson,
    );
    show(io, flags, answer, (added) =>
      fields({
        Endpoint: added.id,
        URL: added.url,
        Events: added.events.join(', '),
        Description: added.description,
        Secret: added.secret,
      }),
    );
    io.stderr('Keep the secret: it is not shown again, and the receiver needs it.');
  });
}

/** Returns an http or https URL. Throws InvalidArgumentError, which becomes exit code 2. */
export function readWebUrl(text: string): string {
  const parsed = parseWebUrl(text);
  if ('value' in parsed) return parsed.value;
  throw new InvalidArgumentError(`It ${parsed.problem}`);
}

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
