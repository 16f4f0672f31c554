import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { ListPaymentsRequest } from '../../client/index.ts';
import { DIRECTIONS, type PaymentJson, paymentJson, RAILS } from '../../model/payment.ts';
import { type ConnectionFlags, withConnection } from '../connection.ts';
import { withExamples } from '../examples.ts';
import { sidecarClient } from '../http.ts';
import { readPast, readPaymentIndex, readWhole } from '../inputs.ts';
import type { CliIo } from '../io.ts';
import { statusWords } from '../terminal/payment-text.ts';
import { printable } from '../terminal/printable.ts';
import { show } from '../terminal/show.ts';
import { type Column, table } from '../terminal/table.ts';
import { grouped, moment } from '../terminal/words.ts';

interface PaymentsFlags extends ConnectionFlags, ListPaymentsRequest {
  readonly sync: boolean;
}

const pageJson = z.object({ payments: z.array(paymentJson), next_index: z.string().nullable() });

/** The width of notes and messages in the table, in characters. */
const TEXT_WIDTH = 30;

const COLUMNS: readonly Column<PaymentJson>[] = [
  { title: 'Created (UTC)', of: ({ created_at }) => moment(created_at) },
  { title: 'Direction', of: ({ direction }) => direction },
  { title: 'Rail', of: ({ rail }) => rail },
  { title: 'Sats', of: ({ amount }) => grouped(amount, 'any'), right: true },
  { title: 'Fees', of: ({ fees }) => grouped(fees), right: true },
  { title: 'Status', of: statusWords, most: TEXT_WIDTH },
  {
    title: 'Note or message',
    of: ({ personal_note, message }) => personal_note ?? message ?? '',
    most: TEXT_WIDTH,
  },
  { title: 'Index', of: ({ index }) => index },
];

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
    .option('--limit <count>', 'the largest number of payments to list, up to 1000', readWhole, 100)
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
    withConnection(command),
    'payments --filter completed --direction inbound --since 7d',
    'payments --order asc --limit 100 --no-sync',
    'payments --json',
  ).action(async (flags: PaymentsFlags) => {
    const ask = sidecarClient(io, flags);
    if (flags.sync) await ask((sidecar) => sidecar.syncPayments(), z.unknown());
    const { filter, order, limit, after, direction, rail, since, until } = flags;
    const query = { filter, order, limit, after, direction, rail, since, until };
    const answer = await ask((sidecar) => sidecar.listPayments(query), pageJson);
    show(io, flags, answer, ({ payments }) =>
      payments.length === 0 ? ['No payments.'] : table(COLUMNS, payments),
    );
    const next = answer.value.next_index;
    if (next !== null && !flags.json) {
      io.stderr(`There are more payments: add --after ${printable(next)} to continue.`);
    }
  });
}
