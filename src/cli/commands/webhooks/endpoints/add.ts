import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { WebhookEvent } from '../../../../model/delivery.ts';
import { endpointJson } from '../../../../model/webhook-endpoint.ts';
import { parseWebhookSecret } from '../../../../model/webhook-secret.ts';
import { readWebUrl } from '../../../inputs.ts';
import type { CliIo } from '../../../io.ts';
import { oneCall } from '../../../one-call.ts';
import { eventsOption } from '../../../options.ts';
import { fields } from '../../../terminal/table.ts';

const addedJson = endpointJson().extend({ secret: z.string() });

interface AddFlags {
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
    .addOption(eventsOption())
    .option('--description <text>', 'name for people')
    .option(
      '--secret-path <file>',
      'file that holds the signing secret (default: a new one is drawn)',
      readSecretFile,
    );
  oneCall<typeof addedJson, [string], AddFlags>(io, command, {
    examples: [
      'webhooks endpoints add https://shop.example/hook',
      'webhooks endpoints add http://127.0.0.1:8080/hook --events payment.finalized',
    ],
    call: (sidecar, { args: [url], flags: { events, description, secretPath: secret } }) =>
      sidecar.addWebhookEndpoint({ url, events: events && [...events], description, secret }),
    answer: addedJson,
    lines: (added) =>
      fields({
        Endpoint: added.id,
        URL: added.url,
        Events: added.events.join(', '),
        Description: added.description,
        Secret: added.secret,
      }),
    after: () => io.stderr('Keep the secret: it is not shown again, and the receiver needs it.'),
  });
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
