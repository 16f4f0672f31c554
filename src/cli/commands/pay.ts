import { z } from 'zod';
import { onchainUri } from '../../client/onchain-uri.ts';
import { feePolicyOf } from '../../config/fee-policy.ts';
import { systemClock } from '../../lib/clock.ts';
import { parseAmountMsat } from '../../model/amount.ts';
import { type PayableJson, payableJson } from '../../model/analysis.ts';
import { AWAITING_APPROVAL, paymentJson } from '../../model/payment.ts';
import { CallFailed } from '../call-failed.ts';
import { argument, asking, flag, type Given } from '../command.ts';
import { type ConnectionFlags, settingsOf } from '../connection.ts';
import { followPayment } from '../follow.ts';
import type { AskSidecar } from '../http.ts';
import { readPositiveAmount } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { refundFlag } from '../naming.ts';
import {
  CAP_OF_SETTINGS,
  externalIdFlag,
  maxFeeFlag,
  noteFlag,
  priceFlag,
  priorityFlag,
} from '../options.ts';
import { agree, type SpendingFlags, spendOnce, withSpending } from '../spending.ts';
import { paymentLines, requireNotFailed, shortId } from '../terminal/payment-text.ts';
import { show } from '../terminal/show.ts';
import { worthOf } from '../worth.ts';
import { type Agreed, agreedTerms, payQuestion } from './pay-question.ts';

const PAY_WORDS = {
  payable: argument('<string>', 'what to pay'),
  typed: argument(
    '[amount]',
    'amount in sats; needed if the string names none',
    readPositiveAmount,
  ),
  amount: flag('--amount <sats>', 'the same as the argument', readPositiveAmount),
  price: priceFlag(''),
  send_all: flag('--all', 'on chain: send everything, in place of an amount'),
  max_fee: maxFeeFlag(
    `the most that routing or the transaction may cost (default on Lightning: ${CAP_OF_SETTINGS})`,
  ),
  priority: priorityFlag('normal'),
  message: flag('--message <text>', 'message to the receiver, if the payment can carry one'),
  personal_note: noteFlag,
  external_id: externalIdFlag,
  refund_of: refundFlag,
};

/** Adds `pay`, which pays a payment string at most once. */
export const addPay = asking(
  'pay',
  {
    about:
      'Pay an invoice, offer, address, LNURL, Lightning Address or BIP 321 URI; exit code 1 if the payment fails. On a terminal it asks before. An on-chain payment is still pending when the command ends.',
    words: PAY_WORDS,
    examples: [
      'pay lnbc10u1p... --max-fee 10',
      'pay alice@example.com 1000 --message Thanks',
      'pay bc1q... 50000 --priority high --yes',
      'pay lno1... 500 --idempotency-key order-17',
      'pay lnbc10u1p... --refund-of 3de403f1aa',
      'pay alice@example.com --price "4.50 EUR"',
    ],
    check({ typed, amount, ...given }) {
      if (typed !== undefined && amount !== undefined)
        return 'give the amount once, either after the string or as --amount';
      if (given.send_all && (typed ?? amount) !== undefined)
        return 'give either an amount or --all';
      if (given.price && (isOnchainOrder(given) || (typed ?? amount) !== undefined))
        return 'give --price alone, without an amount, --all and --priority';
      return isOnchainOrder(given) && given.message !== undefined
        ? '--message cannot be sent on chain: leave it out, or --all and --priority'
        : null;
    },
  },
  async ({ typed, ...given }, { io, command, ask }) => {
    const startedAtMs = systemClock.now();
    const amount = typed ?? given.amount;
    const flags = command.opts<ConnectionFlags & SpendingFlags>();
    const order = { ...given, amount };
    const agreed = await agreeToPay(io, ask, order, flags);
    const { price = null, max_fee: maxFee } = given;
    const terms = agreed ?? { amount: amount ?? null, maxFee: maxFee ?? null, price };
    const answer = await spendOnce(io, {
      key: flags.idempotencyKey,
      flags: agreed === null ? [] : flagsBeside({ amount, maxFee }, agreed),
      send: (idempotencyKey) => send(ask, order, terms, idempotencyKey),
    });
    const { index, status_msg, status, finalized_at } = answer.value;
    if (status_msg === AWAITING_APPROVAL) {
      io.stderr(
        `It waits until the wallet's owner approves it: wallet-sidecar approve ${shortId(index)}`,
      );
      return followPayment(io, ask, { index, json: flags.json });
    }
    show(io, flags, answer, paymentLines);
    const isOld = status === 'completed' && (finalized_at ?? startedAtMs) < startedAtMs - SKEW_MS;
    if (isOld && !flags.json) io.stderr('It was paid before: nothing was sent now.');
    requireNotFailed(answer.value);
  },
  withSpending,
);

/**
 * By how much the clocks of this machine and of the sidecar or its node may differ: of a payment that was sent now
 * nobody may be told that it was not.
 */
const SKEW_MS = 5_000;

/** With any bound a payment that waits for approval is told at once; another one is waited for. */
const NO_BOUND_SECS = 86_400;

type Order = Omit<Given<typeof PAY_WORDS>, 'typed'>;

/** Returns what a person agreed to; null where nobody is asked. */
async function agreeToPay(
  io: CliIo,
  ask: AskSidecar,
  order: Order,
  flags: ConnectionFlags & SpendingFlags,
): Promise<Agreed | null> {
  if (flags.yes || !io.terminal.canAsk) return null;
  const { payable, price, max_fee: maxFee, send_all: all = false } = order;
  const ways = await waysToPay(ask, payable);
  const [named] = isOnchainOrder(order) ? ways.filter(isOnchain) : ways;
  if (!named) {
    throw new CallFailed(
      'This string names no way to pay that fits: "wallet-sidecar analyze" explains it.',
    );
  }
  const amount = price ? await worthOf(ask, price) : order.amount;
  const best = await estimated(ask, named, amount);
  const asked = { amount, price, maxFee, all };
  const agreed = agreedTerms(best, asked, feePolicyOf(settingsOf(io, flags)));
  if (agreed.amount === null && !all) {
    throw new CallFailed('The string names no amount: give one after it.');
  }
  await agree(io, flags, await payQuestion(payable, best, agreed));
  return agreed;
}

async function waysToPay(ask: AskSidecar, payable: string): Promise<readonly PayableJson[]> {
  const { value } = await ask(
    (sidecar) => sidecar.analyze({ payment_string: payable }),
    z.object({ payables: z.array(payableJson()) }),
    'Reading what is to be paid',
  );
  return value.payables;
}

const isOnchain = (payable: PayableJson) => payable.kind === 'onchain';

/** Returns the way with the estimate for the amount, which an address alone does not name. */
async function estimated(
  ask: AskSidecar,
  named: PayableJson,
  amount: string | undefined,
): Promise<PayableJson> {
  const amountMsat = parseAmountMsat(amount ?? '');
  if (named.kind !== 'onchain' || amountMsat === null || named.amount === amount) return named;
  const uri = onchainUri(named.onchain, amountMsat);
  const [way] = uri === null ? [] : (await waysToPay(ask, uri)).filter(isOnchain);
  return way ? { ...named, amount: way.amount, fee_estimate: way.fee_estimate } : named;
}

function send(ask: AskSidecar, order: Order, terms: Agreed, idempotencyKey: string) {
  const { payable, message, personal_note, external_id, refund_of, priority, send_all } = order;
  const { price } = order;
  const own = { personal_note, external_id, refund_of };
  const amount = terms.price ? undefined : (terms.amount ?? undefined);
  const shared = { amount, max_fee: terms.maxFee ?? undefined };
  const options = { idempotencyKey, respondAfterSecs: NO_BOUND_SECS };
  return ask(
    (sidecar) =>
      isOnchainOrder(order)
        ? sidecar.payOnchain({ address: payable, ...shared, send_all, priority, ...own }, options)
        : sidecar.pay({ payable, ...shared, price, message, ...own }, options),
    paymentJson(),
    'Paying',
  );
}

function isOnchainOrder({ send_all, priority }: Pick<Order, 'send_all' | 'priority'>): boolean {
  return send_all === true || priority !== undefined;
}

type Typed = { readonly [Term in 'amount' | 'maxFee']: string | undefined };

/** The flags that, beside the typed terms, repeat the request as it was agreed to. */
function flagsBeside(typed: Typed, agreed: Agreed): string[] {
  const added = (flag: string, term: keyof Typed) =>
    typed[term] === undefined && agreed[term] !== null ? [flag, agreed[term]] : [];
  const amount = agreed.price ? [] : added('--amount', 'amount');
  return ['--yes', ...amount, ...added('--max-fee', 'maxFee')];
}
