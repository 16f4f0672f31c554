import { Argument, type Command, Option } from 'commander';
import { z } from 'zod';
import { nodeInfoJson } from '../../model/node-info.ts';
import { CallFailed } from '../call-failed.ts';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import { readPositiveAmount } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { printable } from '../terminal/printable.ts';
import { show } from '../terminal/show.ts';

const invoiceJson = z.object({ index: z.string(), invoice: z.string() });

/** The version of the sandbox node ends so; that of no real node does. */
const SANDBOX = /-sandbox$/;

/** Adds `trigger`, which makes a true webhook happen on the sandbox. */
export function addTrigger(parent: Command, io: CliIo): void {
  const command = parent
    .command('trigger')
    .description(
      'Make a webhook happen on the sandbox, by a payment of worthless coins to the wallet. On a real node use "webhooks endpoints test".',
    )
    .addArgument(new Argument('<event>', 'what to make happen').choices(['payment.finalized']))
    .addOption(
      new Option('--amount <sats>', 'what the outside world pays')
        .argParser(readPositiveAmount)
        .default('1000'),
    );
  withExamples(withConnection(command), 'trigger payment.finalized').action(
    async (_event: string, flags: ConnectionFlags & { readonly amount: string }) => {
      const ask = sidecarClient(io, flags);
      const { value: node } = await ask((sidecar) => sidecar.nodeInfo(), nodeInfoJson());
      // Nothing is made before this is known: on a real node an invoice would be left.
      if (!SANDBOX.test(node.version)) {
        throw new CallFailed(
          'This wallet is on a real node, where nobody pays for a test: send a test delivery with "wallet-sidecar webhooks endpoints test ENDPOINT".',
        );
      }
      const { amount } = flags;
      const made = await ask((sidecar) => sidecar.createInvoice({ amount }), invoiceJson);
      await ask(
        (_, transport) => transport.post('/sandbox/pay', { payable: made.value.invoice }),
        z.object({ status: z.string() }),
      );
      show(io, flags, made, ({ index }) => [
        `Paid: ${printable(index)}. "wallet-sidecar webhooks list" shows its deliveries.`,
      ]);
    },
  );
}
