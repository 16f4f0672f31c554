import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import { readPast } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';

const redeliveredJson = z.object({ redelivered: z.int() });

interface RedeliverFlags extends ConnectionFlags {
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
    );
  command.option('--endpoint <endpoint>', 'only to this endpoint (default: to all)');
  withExamples(
    withConnection(command),
    'webhooks redeliver msg_2a2a...',
    'webhooks redeliver --since 2h',
  ).action(async (id: string | undefined, flags: RedeliverFlags) => {
    if ((id === undefined) === (flags.since === undefined)) {
      command.error('give either the id of a delivery or --since');
    }
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.redeliverWebhooks({ id, since: flags.since, endpoint: flags.endpoint }),
      redeliveredJson,
    );
    show(io, flags, answer, ({ redelivered }) => [`Deliveries to be sent again: ${redelivered}`]);
  });
}
