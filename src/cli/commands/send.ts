import { feePolicyOf } from '../../config/fee-policy.ts';
import { paymentJson } from '../../model/payment.ts';
import { argument, flag } from '../command.ts';
import { settingsOf } from '../connection.ts';
import { readNodePk, readPositiveAmount } from '../inputs.ts';
import { paymentArgument } from '../naming.ts';
import { oneCall } from '../one-call.ts';
import { CAP_OF_SETTINGS, externalIdFlag, maxFeeFlag, noteFlag, priorityFlag } from '../options.ts';
import { costLines } from '../terminal/cost.ts';
import { paymentLines, requireNotFailed } from '../terminal/payment-text.ts';
import { sats } from '../terminal/words.ts';
import { routingCap } from './pay-question.ts';

/** Adds `keysend`, which pays a node without an invoice. */
export const addKeysend = oneCall('keysend', {
  about: 'Pay a node without an invoice; exit code 1 if the payment fails.',
  words: {
    node_pk: argument('<node>', 'public key of the node', readNodePk),
    amount: argument('<amount>', 'amount in sats', readPositiveAmount),
    max_fee: maxFeeFlag(`the largest routing fees (default: ${CAP_OF_SETTINGS})`),
    message: flag('--message <text>', 'message to the receiver'),
    personal_note: noteFlag,
    external_id: externalIdFlag,
  },
  examples: ['keysend 02a1b2... 100 --message Thanks'],
  doing: 'Paying',
  money: {
    defaultMaxFee: ({ amount }, io, flags) =>
      routingCap(amount, feePolicyOf(settingsOf(io, flags))),
    question: ({ node_pk, amount, max_fee: maxFee = null }) =>
      costLines({
        amount,
        maxFee,
        feeEstimate: null,
        to: `the node ${node_pk}`,
        description: null,
      }),
  },
  call: (sidecar, given, { key }) => sidecar.paySpontaneous(given, { idempotencyKey: key }),
  answer: paymentJson,
  lines: paymentLines,
  after: requireNotFailed,
});

/** Adds `bump`, which raises the fee of an on-chain send. */
export const addBump = oneCall('bump', {
  about:
    'Raise the fee of an on-chain send that waits for its first confirmation. A further transaction pays for both.',
  words: {
    index: paymentArgument,
    priority: priorityFlag('high'),
    max_fee: maxFeeFlag('the most that raising the fee may cost (default: no limit)'),
  },
  examples: ['bump last --max-fee 2000'],
  money: {
    question: ({ index, max_fee }) => [
      `Payment ${index}`,
      max_fee === undefined
        ? 'Raise the fee without a limit of what that costs (--max-fee sets one).'
        : `Raise the fee for at most ${sats(max_fee)}.`,
    ],
  },
  call: (sidecar, given, { key }) => sidecar.bumpFee(given, { idempotencyKey: key }),
  answer: paymentJson,
  lines: paymentLines,
});
