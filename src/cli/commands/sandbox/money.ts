import { type Command, Option } from 'commander';
import { z } from 'zod';
import { paymentJson } from '../../../model/payment.ts';
import { readPositiveAmount } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { paymentLines } from '../../terminal/payment-text.ts';
import { printable } from '../../terminal/printable.ts';
import { fields } from '../../terminal/table.ts';

const walletJson = z.object({
  root_seed: z.string(),
  user_pk: z.string(),
  node_pk: z.string(),
  client_credentials: z.string(),
});
const statusJson = z.object({ status: z.string() });

/** Adds `sandbox wallet`, which creates another wallet. */
export function addSandboxWallet(sandbox: Command, io: CliIo): void {
  const command = sandbox
    .command('wallet')
    .description('Create another wallet, signed up and funded, with full credentials.');
  oneCall(io, command, {
    examples: ['sandbox wallet', 'sandbox wallet --json'],
    call: (_, __, { transport }) => transport.post('/sandbox/wallets', {}),
    answer: walletJson,
    lines: (wallet) =>
      fields({
        'Wallet key': wallet.user_pk,
        'Node key': wallet.node_pk,
        'Root seed': wallet.root_seed,
        Credentials: wallet.client_credentials,
      }),
  });
}

/** Adds `sandbox fund`, which gives the calling wallet coins. */
export function addSandboxFund(sandbox: Command, io: CliIo): void {
  const command = sandbox
    .command('fund')
    .description('Give the calling wallet worthless coins.')
    .argument('<amount>', 'amount in sats', readPositiveAmount)
    .addOption(
      new Option('--rail <rail>', 'where the coins arrive')
        .choices(['lightning', 'onchain'])
        .default('lightning'),
    );
  oneCall<ReturnType<typeof paymentJson>, [string], { readonly rail: string }>(io, command, {
    examples: ['sandbox fund 50000', 'sandbox fund 50000 --rail onchain'],
    call: (_, { args: [amount], flags: { rail } }, { transport }) =>
      transport.post('/sandbox/fund', { amount, rail }),
    answer: paymentJson(),
    lines: paymentLines,
  });
}

/** Adds `sandbox pay`, by which the outside world pays a wallet. */
export function addSandboxPay(sandbox: Command, io: CliIo): void {
  const command = sandbox
    .command('pay')
    .description("Let the outside world pay a wallet's invoice, offer, address or node.")
    .argument('<string>', 'invoice, offer, address, purchase link or public key of the node')
    .argument('[amount]', 'amount in sats; needed if the string names none', readPositiveAmount)
    .option('--message <text>', 'message to the wallet')
    .option('--payer-name <text>', 'name that the payer gives itself');
  interface PayFlags {
    readonly message?: string;
    readonly payerName?: string;
  }
  oneCall<typeof statusJson, [string, string | undefined], PayFlags>(io, command, {
    examples: ['sandbox pay lnbcrt10u1p...', 'sandbox pay lno1... 500 --message Hello'],
    call: (_, { args: [payable, amount], flags: { message, payerName } }, { transport }) =>
      transport.post('/sandbox/pay', { payable, amount, message, payer_name: payerName }),
    answer: statusJson,
    lines: ({ status }) => [printable(status)],
  });
}
