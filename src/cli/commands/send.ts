import type { Command } from 'commander';
import { feePolicyOf } from '../../config/fee-policy.ts';
import { type ApprovalJson, approvalJson } from '../../model/clients/approval.ts';
import { type PaymentJson, paymentJson } from '../../model/payment.ts';
import { type Asking, argument, asking, flag } from '../command.ts';
import { type ConnectionFlags, settingsOf } from '../connection.ts';
import { followPayment } from '../follow.ts';
import { LAST, readNodePk, readPositiveAmount } from '../inputs.ts';
import { paymentArgument, refundFlag } from '../naming.ts';
import { oneCall } from '../one-call.ts';
import {
  CAP_OF_SETTINGS,
  externalIdFlag,
  maxFeeFlag,
  noteFlag,
  priceFlag,
  priorityFlag,
} from '../options.ts';
import { agree, type SpendingFlags, spendOnce, withSpending } from '../spending.ts';
import { costLines } from '../terminal/cost.ts';
import { paymentLines, requireNotFailed, statusWords } from '../terminal/payment-text.ts';
import { show } from '../terminal/show.ts';
import { fields } from '../terminal/table.ts';
import { moment, sats } from '../terminal/words.ts';
import { routingCap } from './pay-question.ts';

/** Adds `keysend`, which pays a node without an invoice. */
export const addKeysend = oneCall('keysend', {
  about: 'Pay a node without an invoice; exit code 1 if the payment fails.',
  words: {
    node_pk: argument('<node>', 'public key of the node', readNodePk),
    amount: argument('[amount]', 'amount in sats, unless --price is given', readPositiveAmount),
    price: priceFlag(''),
    max_fee: maxFeeFlag(`the largest routing fees (default: ${CAP_OF_SETTINGS})`),
    message: flag('--message <text>', 'message to the receiver'),
    personal_note: noteFlag,
    external_id: externalIdFlag,
    refund_of: refundFlag,
  },
  examples: ['keysend 02a1b2... 100 --message Thanks', 'keysend 02a1b2... --price "4.50 EUR"'],
  check: ({ amount, price }) =>
    (amount === undefined) === (price === undefined) ? 'give either an amount or --price' : null,
  doing: 'Paying',
  money: {
    defaultMaxFee: ({ amount }, io, flags, worth) =>
      routingCap(amount ?? worth ?? '0', feePolicyOf(settingsOf(io, flags))),
    question: ({ node_pk, amount, price = null, max_fee: maxFee = null }, worth) =>
      costLines({
        amount: amount ?? worth,
        price,
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

const WAITING = { index: paymentArgument };

/** Adds `approve`, which has a payment sent that waits for approval. */
export const addApprove = asking(
  'approve',
  {
    about:
      'Approve a payment that waits for approval: it is sent as it was asked for; exit code 1 if it fails. On a terminal it shows the payment and asks before; "last" is taken only there. "payments --filter awaiting" lists what waits.',
    words: WAITING,
    examples: ['approve 3de403f1aa'],
  },
  async (given, acting) => {
    const { io, command, ask } = acting;
    const flags = command.opts<ConnectionFlags & SpendingFlags>();
    const asks = !flags.yes && io.terminal.canAsk;
    await lookAt(given, acting, asks);
    const answer = await spendOnce(io, {
      key: flags.idempotencyKey,
      flags: asks ? ['--yes'] : [],
      send: (idempotencyKey) =>
        ask((sidecar) => sidecar.approve(given, { idempotencyKey }), paymentJson(), 'Paying'),
    });
    const { index, rail, status } = answer.value;
    // As with pay, a payment over Lightning is waited for.
    if (status === 'pending' && rail !== 'onchain') {
      return followPayment(io, ask, { index, json: flags.json });
    }
    show(io, flags, answer, paymentLines);
    requireNotFailed(answer.value);
  },
  withSpending,
);

/** Adds `reject`, which ends a payment that waits for approval. */
export const addReject = asking(
  'reject',
  {
    about:
      'Reject a payment that waits for approval: it fails, and nothing is sent. "last" is taken only on a terminal, where it asks before.',
    words: WAITING,
    examples: ['reject 3de403f1aa'],
  },
  async (given, acting) => {
    const { io, command, flags, ask } = acting;
    if (isLast(command)) await lookAt(given, acting, io.terminal.canAsk);
    const answer = await ask((sidecar) => sidecar.reject(given), paymentJson());
    show(io, flags, answer, paymentLines);
  },
);

/**
 * Shows a payment and asks a person whether to go on; does nothing where nobody is asked, but for `last`: that may be
 * another payment than the one that was meant, as strangers and clients make further ones.
 */
async function lookAt(
  given: { readonly index: string },
  { io, command, ask }: Asking,
  asks: boolean,
): Promise<void> {
  if (asks) {
    const { value } = await ask((sidecar) => sidecar.payment(given), paymentJson());
    const terms = await ask((sidecar) => sidecar.approval(given), approvalJson());
    await agree(io, {}, waitingLines(value, terms.value));
  } else if (isLast(command)) {
    command.error('"last" is whatever came last, and nobody is asked: name the payment by its id');
  }
}

function isLast({ args }: Command): boolean {
  return args[0]?.toLowerCase() === LAST;
}

function waitingLines(payment: PaymentJson, approval: ApprovalJson): string[] {
  const { amount, offer_id, address } = payment;
  const { client_label, client_pk, max_fee, node_pk, expires_at } = approval;
  const to = address ? `the address ${address}` : `the node ${node_pk}`;
  return fields({
    Status: statusWords(payment),
    Pay: amount && sats(amount),
    To: offer_id ? `${to}, by the offer ${offer_id}` : to,
    'For, they say': payment.description,
    Fees: `at most ${sats(max_fee)}`,
    Message: payment.message,
    'External id': payment.external_id,
    'Refund of': payment.refund_of,
    'Asked by': client_label ?? client_pk,
    Asked: moment(payment.created_at),
    Ends: moment(expires_at),
    Index: payment.index,
  });
}
