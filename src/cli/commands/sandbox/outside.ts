import { Argument, type Command, Option } from 'commander';
import { z } from 'zod';
import { readPositiveAmount, readSeconds, readWholeIn } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { printable } from '../../terminal/printable.ts';

interface OutsideFlags {
  readonly description?: string;
  readonly behavior?: string;
  readonly expiry?: number;
}

const invoiceJson = z.object({ invoice: z.string(), payment_hash: z.string() });
const offerJson = z.object({ offer: z.string() });
const lnurlJson = z.object({ lnurl: z.string(), url: z.string() });

/** Adds `sandbox invoice`, which creates an invoice of an outside node. */
export function addSandboxInvoice(sandbox: Command, io: CliIo): void {
  const command = withBehavior(
    sandbox
      .command('invoice')
      .description('Create an invoice of an outside node, for this wallet to pay.')
      .argument('[amount]', 'amount in sats; without it the payer chooses', readPositiveAmount),
  ).option(
    '--expiry <duration>',
    'how long it can be paid, such as 15m (default: 1d)',
    readSeconds,
  );
  oneCall<typeof invoiceJson, [string | undefined], OutsideFlags>(io, command, {
    examples: ['sandbox invoice 1000', 'sandbox invoice 1000 --behavior hold'],
    call: (_, { args: [amount], flags }, { transport }) => {
      const { description, behavior, expiry: expiration_secs } = flags;
      const body = { amount, description, behavior, expiration_secs };
      return transport.post('/sandbox/invoice', body);
    },
    answer: invoiceJson,
    lines: ({ invoice, payment_hash }) => [printable(invoice), `Hash  ${printable(payment_hash)}`],
  });
}

/** Adds `sandbox offer`, which creates an offer of an outside node. */
export function addSandboxOffer(sandbox: Command, io: CliIo): void {
  const command = withBehavior(
    sandbox
      .command('offer')
      .description('Create an offer of an outside node, for this wallet to pay.')
      .argument('[min-amount]', 'smallest amount in sats; without it any', readPositiveAmount),
  );
  oneCall<typeof offerJson, [string | undefined], OutsideFlags>(io, command, {
    examples: ['sandbox offer --description Donations'],
    call: (_, { args: [min_amount], flags: { description, behavior } }, { transport }) =>
      transport.post('/sandbox/offer', { min_amount, description, behavior }),
    answer: offerJson,
    lines: ({ offer }) => [printable(offer)],
  });
}

/** Adds `sandbox lnurl`, which creates an LNURL service of the outside world. */
export function addSandboxLnurl(sandbox: Command, io: CliIo): void {
  const command = sandbox
    .command('lnurl')
    .description('Create an LNURL service of the outside world, which the sidecar serves.')
    .addArgument(
      new Argument('<kind>', 'whether it takes payments or gives withdrawals').choices([
        'pay',
        'withdraw',
      ]),
    )
    .argument('<min-amount>', 'smallest amount in sats', readPositiveAmount)
    .argument('<max-amount>', 'largest amount in sats', readPositiveAmount)
    .option('--comment-length <count>', 'longest comment in characters', readWholeIn(0, 2000))
    .option('--description <text>', 'shown to the payer');
  interface LnurlFlags {
    readonly commentLength?: number;
    readonly description?: string;
  }
  oneCall<typeof lnurlJson, ['pay' | 'withdraw', string, string], LnurlFlags>(io, command, {
    examples: ['sandbox lnurl pay 1 100000', 'sandbox lnurl withdraw 1 5000'],
    call: (_, { args: [kind, min_amount, max_amount], flags }, { transport }) => {
      const { commentLength: comment_length, description } = flags;
      const range = { min_amount, max_amount };
      const body = { tag: `${kind}Request`, ...range, comment_length, description };
      return transport.post('/sandbox/lnurl', body);
    },
    answer: lnurlJson,
    lines: ({ lnurl, url }) => [printable(lnurl), `URL  ${printable(url)}`],
  });
}

function withBehavior(command: Command): Command {
  return command
    .option('--description <text>', 'shown to the payer')
    .addOption(
      new Option(
        '--behavior <behavior>',
        'what the outside node does with a payment (default: settle)',
      ).choices(['settle', 'fail', 'hold']),
    );
}
