import { randomBytes } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import { z } from 'zod';
import { printable } from '../../lib/printable.ts';
import { nodeInfoJson } from '../../model/node-info.ts';
import { CallFailed } from '../call-failed.ts';
import { argument, asking, flag } from '../command.ts';
import { readPositiveAmount } from '../inputs.ts';
import { show } from '../terminal/show.ts';

/** The events that a payment to the wallet makes happen. */
const MADE = ['payment.finalized', 'payment.held'] as const;

/** The version of the sandbox node ends so; that of no real node does. */
const SANDBOX = /-sandbox$/;

/** Adds `trigger`, which makes a true webhook happen on the sandbox. */
export const addTrigger = asking(
  'trigger',
  {
    about:
      'Make a webhook happen on the sandbox, by a payment of worthless coins to the wallet. On a real node use "webhooks endpoints test".',
    words: {
      event: argument('<event>', 'what to make happen', MADE),
      amount: flag('--amount <sats>', 'what the outside world pays', readPositiveAmount, '1000'),
      failed: flag('--failed', 'with payment.finalized: by a payment that fails'),
    },
    examples: [
      'trigger payment.finalized',
      'trigger payment.finalized --failed',
      'trigger payment.held',
    ],
    check: ({ event, failed }) =>
      failed && event !== 'payment.finalized' ? '--failed needs payment.finalized' : null,
  },
  async ({ event, amount, failed }, { io, flags, ask }) => {
    const { value: node } = await ask((sidecar) => sidecar.nodeInfo(), nodeInfoJson());
    // Nothing is made before this is known: on a real node an invoice would be left.
    if (!SANDBOX.test(node.version)) {
      throw new CallFailed(
        'This wallet is on a real node, where nobody pays for a test: send a test delivery with "wallet-sidecar webhooks endpoints test ENDPOINT".',
      );
    }
    const preimage = event === 'payment.held' ? new Uint8Array(randomBytes(32)) : null;
    const payment_hash = preimage === null ? undefined : hex.encode(sha256(preimage));
    const made = await ask(
      (sidecar) => sidecar.createInvoice({ amount, payment_hash }),
      z.object({ index: z.string(), invoice: z.string() }),
    );
    const { index, invoice } = made.value;
    if (failed) await ask((sidecar) => sidecar.cancelPayment({ index }), z.unknown());
    else {
      await ask(
        (_, transport) => transport.post('/sandbox/pay', { payable: invoice }),
        z.object({ status: z.string() }),
      );
    }
    const done = failed ? 'Failed' : preimage === null ? 'Paid' : 'Held';
    show(io, flags, made, () => [
      `${done}: ${printable(index)}. "wallet-sidecar webhooks list" shows its deliveries.`,
      ...(preimage === null
        ? []
        : [`"wallet-sidecar settle ${index.slice(-10)} ${hex.encode(preimage)}" takes it.`]),
    ]);
  },
);
