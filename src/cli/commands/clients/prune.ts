import type { Command } from 'commander';
import { z } from 'zod';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { printable } from '../../terminal/printable.ts';

const prunedJson = z.object({ token_ids: z.array(z.string()), removed: z.boolean() });

/** Adds `clients prune`, which lists or ends the node's tokens that belong to no client. */
export function addClientsPrune(clients: Command, io: CliIo): void {
  const command = clients
    .command('prune')
    .description(
      "List the node's tokens that belong to no client, for example after the database was lost.",
    )
    .option('--remove', 'end the listed tokens at the node');
  oneCall<typeof prunedJson, [], { readonly remove?: boolean }>(io, command, {
    examples: ['clients prune', 'clients prune --remove'],
    call: (sidecar, { flags: { remove = false } }) => sidecar.pruneClients({ remove }),
    answer: prunedJson,
    lines: ({ token_ids: ids, removed }) => {
      if (ids.length === 0) return ['No tokens without a client.'];
      const what = removed ? 'Ended at the node:' : 'Without a client (end them with --remove):';
      return [what, ...ids.map(printable)];
    },
  });
}
