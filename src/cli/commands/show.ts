import type { Command } from 'commander';
import { paymentJson } from '../../model/payment.ts';
import { readPaymentIndex } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { paymentLines } from '../terminal/payment-text.ts';

/** Adds `show`, which shows one payment. */
export function addShow(parent: Command, io: CliIo): void {
  const command = parent
    .command('show')
    .description('Show one payment.')
    .argument('<index>', 'index of the payment', readPaymentIndex);
  oneCall<ReturnType<typeof paymentJson>, [string]>(io, command, {
    examples: ['show 0000001764000000000-ln_...'],
    call: (sidecar, { args: [index] }) => sidecar.payment({ index }),
    answer: paymentJson(),
    lines: paymentLines,
  });
}
