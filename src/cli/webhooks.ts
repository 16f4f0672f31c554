import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { WebhookDeliveriesRequest } from '../client/index.ts';
import { DELIVERY_STATES, type DeliveryJson, deliveryJson } from '../model/delivery.ts';
import { type ConnectionFlags, withConnection } from './connection.ts';
import { withExamples } from './examples.ts';
import { sidecarClient } from './http-client.ts';
import { readPast, readWhole } from './inputs.ts';
import type { CliIo } from './io.ts';
import { show } from './show.ts';
import { type Column, table } from './table.ts';
import { addWebhookVerify } from './webhook-verify.ts';
import { moment } from './words.ts';

/** Within the 24 to 64 bytes that a secret may have (contract, Limits). */
const SECRET_BYTES = 32;

const deliveriesJson = z.object({ deliveries: z.array(deliveryJson) });
const redeliveredJson = z.object({ redelivered: z.int() });

/** `webhooks`: what was sent, sending it again, and the two ends of a signature. */
export function addWebhooks(parent: Command, io: CliIo): void {
  const webhooks = parent.command('webhooks').description('Webhooks and their signatures.');
  withExamples(webhooks, 'webhooks list --state failed', 'webhooks redeliver --since 1d');
  addList(webhooks, io);
  addRedeliver(webhooks, io);
  addWebhookVerify(webhooks, io);
  addSecret(webhooks, io);
}

const COLUMNS: readonly Column<DeliveryJson>[] = [
  { title: 'Delivery', of: ({ id }) => id },
  { title: 'Created (UTC)', of: ({ created_at }) => moment(created_at) },
  { title: 'State', of: ({ state }) => state },
  { title: 'Attempts', of: ({ attempts }) => String(attempts), right: true },
  { title: 'Next attempt (UTC)', of: ({ next_attempt_at }) => moment(next_attempt_at) },
  { title: 'Last error', of: ({ last_error }) => last_error ?? '', most: 40 },
  { title: 'Payment', of: ({ index }) => index },
];

function addList(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('list')
    .description("List deliveries of the wallet's payments, newest first.")
    .addOption(new Option('--state <state>', 'deliveries in this state').choices(DELIVERY_STATES))
    .option('--limit <count>', 'most deliveries to list, up to 500', readWhole, 50)
    .option('--before <delivery>', 'go on after this delivery');
  withExamples(withConnection(command), 'webhooks list --state failed --limit 10').action(
    async (flags: ConnectionFlags & WebhookDeliveriesRequest) => {
      const { state, limit, before } = flags;
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.webhookDeliveries({ state, limit, before }),
        deliveriesJson,
      );
      show(io, flags, answer, ({ deliveries }) =>
        deliveries.length === 0 ? ['No deliveries.'] : table(COLUMNS, deliveries),
      );
    },
  );
}

function addRedeliver(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('redeliver')
    .description('Send one delivery again, or every one created since a time.')
    .argument('[delivery]', 'its id, as "webhooks list" shows it')
    .option('--since <time>', 'every one since: 2030-01-31, or 2h back from now', readPast);
  withExamples(
    withConnection(command),
    'webhooks redeliver msg_2a2a...',
    'webhooks redeliver --since 2h',
  ).action(async (id: string | undefined, flags: ConnectionFlags & { readonly since?: number }) => {
    if ((id === undefined) === (flags.since === undefined)) {
      command.error('give either the id of a delivery or --since');
    }
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.redeliverWebhooks({ id, since: flags.since }),
      redeliveredJson,
    );
    show(io, flags, answer, ({ redelivered }) => [`Deliveries to be sent again: ${redelivered}`]);
  });
}

function addSecret(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('secret')
    .description('Draw a new signing secret, for --webhook-secret and for the receiver.')
    .option('--json', 'print JSON');
  withExamples(command, 'webhooks secret').action((flags: { readonly json?: boolean }) => {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    io.stdout(flags.json ? JSON.stringify({ webhook_secret: secret }) : secret);
    io.stderr('Keep it secret: whoever has it can sign webhooks that your receiver believes.');
  });
}
