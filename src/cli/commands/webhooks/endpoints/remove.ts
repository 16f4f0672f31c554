import type { Command } from 'commander';
import { z } from 'zod';
import type { CliIo } from '../../../io.ts';
import { oneCall } from '../../../one-call.ts';

const removedJson = z.object({ canceled: z.int() });

/** Adds `webhooks endpoints remove`, which deletes an endpoint. */
export function addEndpointsRemove(endpoints: Command, io: CliIo): void {
  const command = endpoints
    .command('remove')
    .description('Delete an endpoint. What is pending for it is not sent any more.')
    .argument('<endpoint>', 'id of the endpoint, as "webhooks endpoints list" shows it');
  oneCall<typeof removedJson, [string]>(io, command, {
    examples: ['webhooks endpoints remove ep_2a2a...'],
    call: (sidecar, { args: [id] }) => sidecar.deleteWebhookEndpoint({ id }),
    answer: removedJson,
    lines: ({ canceled }) => [`Deleted. Deliveries canceled: ${canceled}`],
  });
}
