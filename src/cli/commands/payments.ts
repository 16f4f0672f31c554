import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { ListPaymentsRequest } from '../../client/index.ts';
import { DIRECTIONS, paymentJson, RAILS } from '../../model/payment.ts';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import { readPast, readPaymentIndex, readWholeIn } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { PAYMENT_COLUMNS } from '../terminal/payment-text.ts';
import { printable } from '../terminal/printable.ts';
import { show, type TableFlags, tableLines, withTable } from '../terminal/show.ts';

interface PaymentsFlags extends ConnectionFlags, TableFlags, ListPaymentsRequest {
  readonly sync: boolean;
}

const pageJson = z.object({ payments: z.array(paymentJson()), next_index: z.string().nullable() });

/**
 * Adds `payments`, which shows the wallet's payments as a table. Unless --no-sync is given, it first reads new ones
 * from the node.
 */
export function addPayments(parent: Command, io: CliIo): void {
  const command = parent
    .command('payments')
    .description('List payments. The local cache is brought up to date first.')
    .addOption(
      new Option('--filter <state>', 'only payments in this state')
        .choices(['all', 'pending', 'completed', 'failed', 'finalized'])
        .default('all'),
    )
    .addOption(
      new Option('--order <order>', 'newest or oldest first')
        .choices(['desc', 'asc'])
        .default('desc'),
    )
    .option(
      '--limit <count>',
      'the largest number of payments to list, up to 1000',
      readWholeIn(1, 1000),
      100,
    )
    .option('--after <index>', 'continue the list after this payment', readPaymentIndex)
    .addOption(
      new Option('--direction <direction>', 'only payments of this direction').choices(DIRECTIONS),
    )
    .addOption(new Option('--rail <rail>', 'only payments of this rail').choices(RAILS))
    .option(
      '--since <time>',
      'created at or after this time, such as 2030-01-31, or 7d for 7 days ago',
      readPast,
    )
    .option('--until <time>', 'created before this time', readPast)
    .option('--no-sync', 'list the cache as it is, without asking the node');
  withExamples(
    withConnection(withTable(command)),
    'payments --filter completed --direction inbound --since 7d',
    'payments --order asc --limit 100 --no-sync',
    'payments --json',
  ).action(async (flags: PaymentsFlags) => {
    const ask = sidecarClient(io, flags);
    if (flags.sync) {
      await ask((sidecar) => sidecar.syncPayments(), z.unknown(), 'Reading payments from the node');
    }
    const { filter, order, limit, after, direction, rail, since, until } = flags;
    const query = { filter, order, limit, after, direction, rail, since, until };
    const answer = await ask((sidecar) => sidecar.listPayments(query), pageJson);
    show(io, flags, answer, ({ payments }) =>
      payments.length === 0 ? ['No payments.'] : tableLines(io, flags, PAYMENT_COLUMNS, payments),
    );
    const next = answer.value.next_index;
    if (next !== null && !flags.json) {
      io.stderr(`There are more payments: add --after ${printable(next)} to continue.`);
    }
  });
}
