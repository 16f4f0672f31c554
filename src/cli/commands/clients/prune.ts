import type { Command } from 'commander';
import { z } from 'zod';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';

const prunedJson = z.object({ token_ids: z.array(z.string()), removed: z.boolean() });

/** Adds `clients prune`, which lists or ends the node's tokens that belong to no client. */
export function addClientsPrune(clients: Command, io: CliIo): void {
  const command = clients
    .command('prune')
    .description(
      "List the node's tokens that belong to no client, for example after the database was lost.",
    )
    .option('--remove', 'end the listed tokens at the node');
  withExamples(withConnection(command), 'clients prune', 'clients prune --remove').action(
    async (flags: ConnectionFlags & { readonly remove?: boolean }) => {
      const remove = flags.remove === true;
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.pruneClients({ remove }),
        prunedJson,
      );
      show(io, flags, answer, ({ token_ids: ids }) => {
        if (ids.length === 0) return ['No tokens without a client.'];
        const next = remove ? 'Ended at the node:' : 'Without a client (end them with --remove):';
        return [next, ...ids];
      });
    },
  );
}
