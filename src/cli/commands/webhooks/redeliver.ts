import type { Command } from 'commander';
import { z } from 'zod';
import { readPast } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';

const redeliveredJson = z.object({ redelivered: z.int() });

interface RedeliverFlags {
  readonly since?: number;
  readonly endpoint?: string;
}

/** Adds `webhooks redeliver`, which sends deliveries again. */
export function addWebhooksRedeliver(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('redeliver')
    .description('Send one delivery again, or all that were created since a time.')
    .argument('[delivery]', 'id of the delivery, as "webhooks list" shows it')
    .option(
      '--since <time>',
      'all since this time, such as 2030-01-31, or 2h for 2 hours ago',
      readPast,
    )
    .option('--endpoint <endpoint>', 'only to this endpoint (default: to all)');
  oneCall<typeof redeliveredJson, [string | undefined], RedeliverFlags>(io, command, {
    examples: ['webhooks redeliver msg_2a2a...', 'webhooks redeliver --since 2h'],
    check: ({ args: [id], flags: { since } }) =>
      (id === undefined) === (since === undefined)
        ? 'give either the id of a delivery or --since'
        : null,
    call: (sidecar, { args: [id], flags: { since, endpoint } }) =>
      sidecar.redeliverWebhooks({ id, since, endpoint }),
    answer: redeliveredJson,
    lines: ({ redelivered }) => [`Deliveries to be sent again: ${redelivered}`],
  });
}
