import type { Command } from 'commander';
import { z } from 'zod';
import { readPositiveAmount } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { printable } from '../terminal/printable.ts';

const purchaseJson = z.object({ redirect_url: z.string(), index: z.string() });

/** Adds `buy`, which starts a purchase in a payment app. */
export function addBuy(parent: Command, io: CliIo): void {
  const command = parent
    .command('buy')
    .description('Buy Bitcoin through a payment app: print the link to open within two hours.')
    .argument('<amount>', 'amount in sats', readPositiveAmount);
  oneCall<typeof purchaseJson, [string]>(io, command, {
    examples: ['buy 50000'],
    call: (sidecar, { args: [amount] }) => sidecar.buyWithPaymentApp({ amount }),
    answer: purchaseJson,
    lines: ({ redirect_url, index }) => [printable(redirect_url), `Index  ${printable(index)}`],
  });
}
