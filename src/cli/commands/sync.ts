import type { Command } from 'commander';
import { z } from 'zod';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';

const syncedJson = z.object({ num_new: z.int(), num_updated: z.int() });

/** Adds `sync`, which brings the local cache of payments up to date. */
export function addSync(parent: Command, io: CliIo): void {
  const command = parent
    .command('sync')
    .description('Bring new and changed payments into the local cache.')
    .option(
      '--clear',
      'forget the cache first and read everything anew; nothing is lost at the node',
    );
  oneCall<typeof syncedJson, [], { readonly clear?: boolean }>(io, command, {
    examples: ['sync', 'sync --clear'],
    doing: 'Reading payments from the node',
    async call(sidecar, { flags }) {
      if (flags.clear) await sidecar.clearPayments();
      return sidecar.syncPayments();
    },
    answer: syncedJson,
    lines: ({ num_new, num_updated }) => [`New payments: ${num_new}, changed: ${num_updated}`],
  });
}
