import type { Command } from 'commander';
import { z } from 'zod';
import { readHex32, readPaymentIndex } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';

/** Adds `settle`, which takes the money of a held invoice. */
export function addSettle(parent: Command, io: CliIo): void {
  const command = parent
    .command('settle')
    .description('Settle a hold invoice whose payment is held ("cancel" gives it back).')
    .argument('<index>', 'index of the payment', readPaymentIndex)
    .argument(
      '<preimage>',
      '64 hex characters whose SHA-256 is the hash of the invoice',
      readHex32,
    );
  oneCall<z.ZodType, [string, string]>(io, command, {
    examples: ['settle 0000001764000000000-ln_... 5a5a...'],
    call: (sidecar, { args: [index, preimage] }) => sidecar.settleInvoice({ index, preimage }),
    answer: z.object({}),
    lines: () => ['Settled: the payment is completed.'],
  });
}
