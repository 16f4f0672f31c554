import { z } from 'zod';
import { printable } from '../../lib/printable.ts';
import { nodeInfoJson } from '../../model/node-info.ts';
import { CallFailed } from '../call-failed.ts';
import { argument, asking, flag } from '../command.ts';
import { readPositiveAmount } from '../inputs.ts';
import { show } from '../terminal/show.ts';

/** The version of the sandbox node ends so; that of no real node does. */
const SANDBOX = /-sandbox$/;

/** Adds `trigger`, which makes a true webhook happen on the sandbox. */
export const addTrigger = asking(
  'trigger',
  {
    about:
      'Make a webhook happen on the sandbox, by a payment of worthless coins to the wallet. On a real node use "webhooks endpoints test".',
    words: {
      event: argument('<event>', 'what to make happen', ['payment.finalized']),
      amount: flag('--amount <sats>', 'what the outside world pays', readPositiveAmount, '1000'),
    },
    examples: ['trigger payment.finalized'],
  },
  async ({ amount }, { io, flags, ask }) => {
    const { value: node } = await ask((sidecar) => sidecar.nodeInfo(), nodeInfoJson());
    // Nothing is made before this is known: on a real node an invoice would be left.
    if (!SANDBOX.test(node.version)) {
      throw new CallFailed(
        'This wallet is on a real node, where nobody pays for a test: send a test delivery with "wallet-sidecar webhooks endpoints test ENDPOINT".',
      );
    }
    const made = await ask(
      (sidecar) => sidecar.createInvoice({ amount }),
      z.object({ index: z.string(), invoice: z.string() }),
    );
    await ask(
      (_, transport) => transport.post('/sandbox/pay', { payable: made.value.invoice }),
      z.object({ status: z.string() }),
    );
    show(io, flags, made, ({ index }) => [
      `Paid: ${printable(index)}. "wallet-sidecar webhooks list" shows its deliveries.`,
    ]);
  },
);
