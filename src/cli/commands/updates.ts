import type { Command } from 'commander';
import { z } from 'zod';
import { paymentJson } from '../../model/payment.ts';
import { readPosition, readWholeIn } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { PAYMENT_COLUMNS } from '../terminal/payment-text.ts';
import { printable } from '../terminal/printable.ts';
import { withTable } from '../terminal/show.ts';

const pageJson = z.object({
  payments: z.array(paymentJson()),
  updated_index: z.string().nullable(),
});

interface UpdatesFlags {
  readonly after?: string;
  readonly limit?: number;
}

/** Adds `updates`, which lists payments in the order in which they changed. */
export function addUpdates(parent: Command, io: CliIo): void {
  const command = parent
    .command('updates')
    .description('List payments in the order of their updates. It reads the node, not the cache.')
    .option(
      '--after <position>',
      'only updates after this one, as --json, "updates" and "events" show it',
      readPosition,
    )
    .option(
      '--limit <count>',
      'the largest number of payments to list, up to 100',
      readWholeIn(1, 100),
    );
  oneCall<typeof pageJson, [], UpdatesFlags>(io, withTable(command), {
    examples: ['updates', 'updates --after u0000001764000000000-ln_... --json'],
    call: (sidecar, { flags: { after, limit } }) =>
      sidecar.updatedPayments({ start_index: after, limit }),
    answer: pageJson,
    lines: ({ payments, updated_index: next }, _, { table }) => {
      if (payments.length === 0) return ['No updates.'];
      if (next !== null) io.stderr(`Continue with --after ${printable(next)}`);
      return table(PAYMENT_COLUMNS, payments);
    },
  });
}
