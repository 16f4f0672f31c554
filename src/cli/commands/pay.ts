import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { paymentJson } from '../../model/payment.ts';
import { CallRefused } from '../call-refused.ts';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import { readAmount, readPositiveAmount } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { paymentLines, refuseFailed } from '../terminal/payment-text.ts';
import { show } from '../terminal/show.ts';

interface PayFlags extends ConnectionFlags {
  readonly amount?: string;
  readonly maxFee?: string;
  readonly message?: string;
  readonly note?: string;
  readonly idempotencyKey?: string;
}

/** `pay`: pays whatever the string asks for, at most once. */
export function addPay(parent: Command, io: CliIo): void {
  const command = parent
    .command('pay')
    .description(
      'Pay an invoice, offer, address, LNURL, Lightning Address or BIP 321 URI; exit code 1 when the payment fails. On-chain payments are pending when this ends.',
    )
    .argument('<string>', 'what to pay')
    .option('--amount <sats>', 'needed where the string names none', readPositiveAmount)
    .option('--max-fee <sats>', 'most routing fees (default: as the sidecar is set)', readAmount)
    .option('--message <text>', 'message to the receiver, where there is a way to send one')
    .option('--note <text>', 'note that only you see')
    .option(
      '--idempotency-key <key>',
      'same key, same payment: repeat a call without paying twice',
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
      throw withWayBack(error, idempotencyKey);
    });
    show(io, flags, answer, paymentLines);
    refuseFailed(answer.value);
  });
}

/** Whoever does not know whether money went out must not have to guess. */
function withWayBack(error: unknown, key: string): unknown {
  if (!(error instanceof CallRefused) || !error.mayHaveTakenEffect) return error;
  return new CallRefused(
    `${error.message} The payment may be on its way: run the same command with --idempotency-key ${key} to see its end without paying twice.`,
    { mayHaveTakenEffect: true, ...(error.json === null ? {} : { json: error.json }) },
  );
}
