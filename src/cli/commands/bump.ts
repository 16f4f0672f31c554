import type { Command } from 'commander';
import { type Priority, paymentJson } from '../../model/payment.ts';
import { readPaymentIndex } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { maxFeeOption, priorityOption } from '../options.ts';
import { paymentLines } from '../terminal/payment-text.ts';
import { sats } from '../terminal/words.ts';

interface BumpFlags {
  readonly priority?: Priority;
  readonly maxFee?: string;
}

/** Adds `bump`, which raises the fee of an on-chain send. */
export function addBump(parent: Command, io: CliIo): void {
  const command = parent
    .command('bump')
    .description(
      'Raise the fee of an on-chain send that waits for its first confirmation. A further transaction pays for both.',
    )
    .argument('<index>', 'index of the payment', readPaymentIndex)
    .addOption(priorityOption('high'))
    .addOption(maxFeeOption('the most that raising the fee may cost (default: no limit)'));
  oneCall<ReturnType<typeof paymentJson>, [string], BumpFlags>(io, command, {
    examples: ['bump 0000001764000000000-os_... --max-fee 2000'],
    money: {
      question: ({ flags: { maxFee } }) => [
        maxFee === undefined
          ? 'Raise the fee without a limit of what that costs (--max-fee sets one).'
          : `Raise the fee for at most ${sats(maxFee)}.`,
      ],
    },
    call: (sidecar, { args: [index], flags: { priority, maxFee } }, { key }) =>
      sidecar.bumpFee({ index, priority, max_fee: maxFee }, { idempotencyKey: key }),
    answer: paymentJson(),
    lines: paymentLines,
  });
}
