import type { Command } from 'commander';
import { paymentJson } from '../../model/payment.ts';
import { readPositiveAmount } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { paymentLines, requireNotFailed } from '../terminal/payment-text.ts';

interface WithdrawFlags {
  readonly description?: string;
  readonly note?: string;
}

/** Adds `withdraw`, which takes money from an LNURL-withdraw service. */
export function addWithdraw(parent: Command, io: CliIo): void {
  const command = parent
    .command('withdraw')
    .description('Withdraw from an LNURL-withdraw service. It waits until the money has arrived.')
    .argument('<lnurl>', 'lnurl1... or lnurlw://...')
    .argument(
      '[amount]',
      'amount in sats; the most that the service gives unless given',
      readPositiveAmount,
    )
    .option('--description <text>', 'description that the service can read')
    .option('--note <text>', 'note that only you see');
  oneCall<ReturnType<typeof paymentJson>, [string, string | undefined], WithdrawFlags>(
    io,
    command,
    {
      examples: ['withdraw lnurl1...', 'withdraw lnurl1... 500 --note "Voucher 17"'],
      doing: 'Waiting for the money',
      money: {},
      call: (sidecar, { args: [lnurl, amount], flags }, { key }) =>
        sidecar.withdrawLnurl(
          { lnurl, amount, description: flags.description, personal_note: flags.note },
          { idempotencyKey: key },
        ),
      answer: paymentJson(),
      lines: paymentLines,
      after: requireNotFailed,
    },
  );
}
