import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../../../connection.ts';
import { withExamples } from '../../../examples.ts';
import { sidecarClient } from '../../../http.ts';
import type { CliIo } from '../../../io.ts';
import { show } from '../../../terminal/show.ts';

const removedJson = z.object({ canceled: z.int() });

/** Adds `webhooks endpoints remove`, which deletes an endpoint. */
export function addEndpointsRemove(endpoints: Command, io: CliIo): void {
  const command = endpoints
    .command('remove')
    .description('Delete an endpoint. What is pending for it is not sent any more.')
    .argument('<endpoint>', 'id of the endpoint, as "webhooks endpoints list" shows it');
  withExamples(withConnection(command), 'webhooks endpoints remove ep_2a2a...').action(
    async (id: string, flags: ConnectionFlags) => {
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.deleteWebhookEndpoint({ id }),
        removedJson,
      );
      show(io, flags, answer, ({ canceled }) => [`Deleted. Deliveries canceled: ${canceled}`]);
    },
  );
}
