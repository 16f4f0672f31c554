import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { paymentJson } from '../../model/payment.ts';
import { CallFailed } from '../call-failed.ts';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import { readAmount, readPositiveAmount } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { paymentLines, requireNotFailed } from '../terminal/payment-text.ts';
import { show } from '../terminal/show.ts';

interface PayFlags extends ConnectionFlags {
  readonly amount?: string;
  readonly maxFee?: string;
  readonly message?: string;
  readonly note?: string;
  readonly idempotencyKey?: string;
}

/** Adds `pay`, which pays a payment string at most once. */
export function addPay(parent: Command, io: CliIo): void {
  const command = parent
    .command('pay')
    .description(
      'Pay an invoice, offer, address, LNURL, Lightning Address or BIP 321 URI; exit code 1 if the payment fails. An on-chain payment is still pending when the command ends.',
    )
    .argument('<string>', 'what to pay')
    .option('--amount <sats>', 'amount; needed if the string names none', readPositiveAmount)
    .option(
      '--max-fee <sats>',
      'the largest routing fees (default: the setting of the sidecar)',
      readAmount,
    )
    .option('--message <text>', 'message to the receiver, if the payment can carry one')
    .option('--note <text>', 'note that only you see')
    .option(
      '--idempotency-key <key>',
      'calls with the same key pay once, so the call can be repeated',
    );
  withExamples(
    withConnection(command),
    'pay lnbc10u1p... --max-fee 10',
    'pay alice@example.com --amount 1000 --message Thanks',
    'pay lno1... --amount 500 --idempotency-key order-17',
  ).action(async (payable: string, flags: PayFlags) => {
    const idempotencyKey = flags.idempotencyKey ?? randomUUID();
    const body = {
      payable,
      amount: flags.amount,
      max_fee: flags.maxFee,
      message: flags.message,
      personal_note: flags.note,
    };
    const paid = sidecarClient(io, flags)(
      (sidecar) => sidecar.pay(body, { idempotencyKey }),
      paymentJson,
    );
    const answer = await paid.catch((error) => {
      throw withHowToRepeat(error, idempotencyKey);
    });
    show(io, flags, answer, paymentLines);
    requireNotFailed(answer.value);
  });
}

/** Adds to an error how to find out whether the payment was sent, without paying twice. */
function withHowToRepeat(error: unknown, key: string): unknown {
  if (!(error instanceof CallFailed) || !error.mayHaveTakenEffect) return error;
  return new CallFailed(
    `${error.message} The payment may be on its way: run the same command with --idempotency-key ${key} to get its result without paying twice.`,
    { mayHaveTakenEffect: true, ...(error.json === null ? {} : { json: error.json }) },
  );
}
