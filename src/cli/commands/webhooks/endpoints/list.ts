import type { Command } from 'commander';
import { z } from 'zod';
import { type EndpointJson, endpointJson } from '../../../../model/webhook-endpoint.ts';
import { type ConnectionFlags, withConnection } from '../../../connection.ts';
import { withExamples } from '../../../examples.ts';
import { sidecarClient } from '../../../http.ts';
import type { CliIo } from '../../../io.ts';
import { show } from '../../../terminal/show.ts';
import { type Column, table } from '../../../terminal/table.ts';
import { moment } from '../../../terminal/words.ts';

const endpointsJson = z.object({ endpoints: z.array(endpointJson) });

const COLUMNS: readonly Column<EndpointJson>[] = [
  { title: 'Endpoint', of: ({ id }) => id },
  { title: 'Events', of: ({ events }) => events.join(', ') },
  { title: 'Signed', of: ({ signed }) => (signed ? 'yes' : 'no') },
  { title: 'Until (UTC)', of: ({ expires_at }) => moment(expires_at, 'deleted') },
  { title: 'Description', of: ({ description }) => description ?? '', most: 30 },
  { title: 'URL', of: ({ url }) => url },
];

/** Adds `webhooks endpoints list`, which shows the wallet's endpoints. */
export function addEndpointsList(endpoints: Command, io: CliIo): void {
  const command = endpoints.command('list').description("List the wallet's webhook endpoints.");
  withExamples(withConnection(command), 'webhooks endpoints list').action(
    async (flags: ConnectionFlags) => {
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.webhookEndpoints(),
        endpointsJson,
      );
      show(io, flags, answer, (value) =>
        value.endpoints.length === 0
          ? ['No endpoints: add one with "wallet-sidecar webhooks endpoints add URL".']
          : table(COLUMNS, value.endpoints),
      );
    },
  );
}
