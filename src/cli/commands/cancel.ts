import type { Command } from 'commander';
import { z } from 'zod';
import { readPaymentIndex } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';

/** Adds `cancel`, which cancels an invoice that nobody has paid. */
export function addCancel(parent: Command, io: CliIo): void {
  const command = parent
    .command('cancel')
    .description('Cancel a pending invoice, so that it can no longer be paid.')
    .argument('<index>', 'index of the payment', readPaymentIndex);
  oneCall<z.ZodType, [string]>(io, command, {
    examples: ['cancel 0000001764000000000-ln_...'],
    call: (sidecar, { args: [index] }) => sidecar.cancelPayment({ index }),
    answer: z.object({}),
    lines: () => ['Canceled: the invoice can no longer be paid.'],
  });
}
