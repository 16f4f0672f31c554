import type { Command } from 'commander';
import { feePolicyOf } from '../../config/fee-policy.ts';
import { paymentJson } from '../../model/payment.ts';
import { type ConnectionFlags, settingsOf } from '../connection.ts';
import { readNodePk, readPositiveAmount } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { CAP_OF_SETTINGS, maxFeeOption } from '../options.ts';
import { costLines } from '../terminal/cost.ts';
import { paymentLines, requireNotFailed } from '../terminal/payment-text.ts';
import { routingCap } from './pay-question.ts';

interface KeysendFlags extends ConnectionFlags {
  readonly maxFee?: string;
  readonly message?: string;
  readonly note?: string;
}

/** Adds `keysend`, which pays a node without an invoice. */
export function addKeysend(parent: Command, io: CliIo): void {
  const command = parent
    .command('keysend')
    .description('Pay a node without an invoice; exit code 1 if the payment fails.')
    .argument('<node>', 'public key of the node', readNodePk)
    .argument('<amount>', 'amount in sats', readPositiveAmount)
    .addOption(maxFeeOption(`the largest routing fees (default: ${CAP_OF_SETTINGS})`))
    .option('--message <text>', 'message to the receiver')
    .option('--note <text>', 'note that only you see');
  oneCall<ReturnType<typeof paymentJson>, [string, string], KeysendFlags>(io, command, {
    examples: ['keysend 02a1b2... 100 --message Thanks'],
    doing: 'Paying',
    money: {
      defaults: ({ args: [, amount], flags }) => ({
        maxFee: routingCap(amount, feePolicyOf(settingsOf(io, flags))),
      }),
      question: ({ args: [node, amount], flags: { maxFee = null } }) =>
        costLines({ amount, maxFee, feeEstimate: null, to: `the node ${node}`, description: null }),
    },
    call: (sidecar, { args: [node, amount], flags }, { key }) =>
      sidecar.paySpontaneous(
        {
          node_pk: node,
          amount,
          max_fee: flags.maxFee,
          message: flags.message,
          personal_note: flags.note,
        },
        { idempotencyKey: key },
      ),
    answer: paymentJson(),
    lines: paymentLines,
    after: requireNotFailed,
  });
}
