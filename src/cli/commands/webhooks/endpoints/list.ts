import type { Command } from 'commander';
import { z } from 'zod';
import { type EndpointJson, endpointJson } from '../../../../model/webhook-endpoint.ts';
import type { CliIo } from '../../../io.ts';
import { oneCall } from '../../../one-call.ts';
import { withTable } from '../../../terminal/show.ts';
import type { Column } from '../../../terminal/table.ts';
import { minute } from '../../../terminal/words.ts';

const endpointsJson = z.object({ endpoints: z.array(endpointJson()) });

const COLUMNS: readonly Column<EndpointJson>[] = [
  { title: 'Endpoint', of: ({ id }) => id, least: 11, cut: 'middle' },
  { title: 'Events', of: ({ events }) => events.join(', '), leaves: 1 },
  { title: 'Signed', of: ({ signed }) => (signed ? 'yes' : 'no'), leaves: 3 },
  { title: 'Until', of: ({ expires_at }) => minute(expires_at, 'no limit'), leaves: 2 },
  { title: 'Description', of: ({ description }) => description ?? '', most: 30, leaves: 4 },
  { title: 'URL', of: ({ url }) => url, least: 15 },
];

/** Adds `webhooks endpoints list`, which shows the wallet's endpoints. */
export function addEndpointsList(endpoints: Command, io: CliIo): void {
  const command = withTable(endpoints.command('list')).description(
    "List the wallet's webhook endpoints.",
  );
  oneCall(io, command, {
    examples: ['webhooks endpoints list'],
    call: (sidecar) => sidecar.webhookEndpoints(),
    answer: endpointsJson,
    lines: ({ endpoints: rows }, _, { table }) =>
      rows.length === 0
        ? ['No endpoints: add one with "wallet-sidecar webhooks endpoints add URL".']
        : table(COLUMNS, rows),
  });
}
