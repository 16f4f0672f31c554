import type { Command } from 'commander';
import { z } from 'zod';
import { feePolicyOf } from '../../config/fee-policy.ts';
import { payableJson } from '../../model/analysis.ts';
import { type Priority, paymentJson } from '../../model/payment.ts';
import { CallFailed } from '../call-failed.ts';
import { type ConnectionFlags, settingsOf, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { type AskSidecar, sidecarClient } from '../http.ts';
import { readPositiveAmount } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { CAP_OF_SETTINGS, maxFeeOption, priorityOption } from '../options.ts';
import { agree, type SpendingFlags, spendOnce, withSpending } from '../spending.ts';
import { paymentLines, requireNotFailed } from '../terminal/payment-text.ts';
import { show } from '../terminal/show.ts';
import { type Agreed, agreedTerms, payQuestion } from './pay-question.ts';

interface PayFlags extends ConnectionFlags, SpendingFlags {
  readonly amount?: string;
  readonly all?: boolean;
  readonly maxFee?: string;
  readonly priority?: Priority;
  readonly message?: string;
  readonly note?: string;
}

const analysisJson = z.object({ payables: z.array(payableJson()) });

/** Adds `pay`, which pays a payment string at most once. */
export function addPay(parent: Command, io: CliIo): void {
  const command = parent
    .command('pay')
    .description(
      'Pay an invoice, offer, address, LNURL, Lightning Address or BIP 321 URI; exit code 1 if the payment fails. On a terminal it asks before. An on-chain payment is still pending when the command ends.',
    )
    .argument('<string>', 'what to pay')
    .argument('[amount]', 'amount in sats; needed if the string names none', readPositiveAmount)
    .option('--amount <sats>', 'the same as the argument', readPositiveAmount)
    .option('--all', 'on chain: send everything, in place of an amount')
    .addOption(
      maxFeeOption(
        `the most that routing or the transaction may cost (default on Lightning: ${CAP_OF_SETTINGS})`,
      ),
    )
    .addOption(priorityOption('normal'))
    .option('--message <text>', 'message to the receiver, if the payment can carry one')
    .option('--note <text>', 'note that only you see');
  withExamples(
    withConnection(withSpending(command)),
    'pay lnbc10u1p... --max-fee 10',
    'pay alice@example.com 1000 --message Thanks',
    'pay bc1q... 50000 --priority high --yes',
    'pay lno1... 500 --idempotency-key order-17',
  ).action(async (payable: string, typed: string | undefined, flags: PayFlags) => {
    const amount = typed ?? flags.amount;
    if (typed !== undefined && flags.amount !== undefined) {
      command.error('give the amount once, either after the string or as --amount');
    }
    if (flags.all && amount !== undefined) command.error('give either an amount or --all');
    if (isOnchainOrder(flags) && flags.message !== undefined) {
      command.error('--message cannot be sent on chain: leave it out, or --all and --priority');
    }
    const ask = sidecarClient(io, flags);
    const agreed = await agreeToPay(io, ask, { payable, amount, flags });
    const terms = agreed ?? { amount: amount ?? null, maxFee: flags.maxFee ?? null };
    const answer = await spendOnce(io, {
      key: flags.idempotencyKey,
      flags: agreed === null ? [] : flagsBeside({ amount, maxFee: flags.maxFee }, agreed),
      send: (idempotencyKey) => send(ask, { payable, terms, flags, idempotencyKey }),
    });
    show(io, flags, answer, paymentLines);
    requireNotFailed(answer.value);
  });
}

interface Order {
  readonly payable: string;
  readonly flags: PayFlags;
}

/** Returns what a person agreed to; null where nobody is asked. */
async function agreeToPay(
  io: CliIo,
  ask: AskSidecar,
  { payable, amount, flags }: Order & { readonly amount: string | undefined },
): Promise<Agreed | null> {
  if (flags.yes || !io.terminal.canAsk) return null;
  const { value } = await ask(
    (sidecar) => sidecar.analyze({ payment_string: payable }),
    analysisJson,
    'Reading what is to be paid',
  );
  const [best] = isOnchainOrder(flags)
    ? value.payables.filter(({ kind }) => kind === 'onchain')
    : value.payables;
  if (!best) {
    throw new CallFailed(
      'This string names no way to pay that fits: "wallet-sidecar analyze" explains it.',
    );
  }
  const asked = { amount, maxFee: flags.maxFee, all: flags.all ?? false };
  const agreed = agreedTerms(best, asked, feePolicyOf(settingsOf(io, flags)));
  if (agreed.amount === null && !flags.all) {
    throw new CallFailed('The string names no amount: give one after it.');
  }
  await agree(io, flags, payQuestion(payable, best, agreed));
  return agreed;
}

function send(
  ask: AskSidecar,
  order: Order & { readonly terms: Agreed; readonly idempotencyKey: string },
) {
  const { payable, terms, flags, idempotencyKey } = order;
  const { message, note: personal_note, priority, all: send_all } = flags;
  const shared = { amount: terms.amount ?? undefined, max_fee: terms.maxFee ?? undefined };
  return ask(
    (sidecar) =>
      isOnchainOrder(flags)
        ? sidecar.payOnchain(
            { address: payable, ...shared, send_all, priority, personal_note },
            { idempotencyKey },
          )
        : sidecar.pay({ payable, ...shared, message, personal_note }, { idempotencyKey }),
    paymentJson(),
    'Paying',
  );
}

/** Whether flags ask for what only a transaction has. */
function isOnchainOrder({ all, priority }: PayFlags): boolean {
  return all === true || priority !== undefined;
}

/** The terms that the person gave. */
type Typed = { readonly [Term in keyof Agreed]: string | undefined };

/** The flags that, beside the typed terms, repeat the request as it was agreed to. */
function flagsBeside(typed: Typed, agreed: Agreed): string[] {
  const added = (flag: string, term: keyof Agreed) =>
    typed[term] === undefined && agreed[term] !== null ? [flag, agreed[term]] : [];
  return ['--yes', ...added('--amount', 'amount'), ...added('--max-fee', 'maxFee')];
}
