import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { WebhookDeliveriesRequest } from '../../../client/index.ts';
import { DELIVERY_STATES, type DeliveryJson, deliveryJson } from '../../../model/delivery.ts';
import { readWholeIn } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { withTable } from '../../terminal/show.ts';
import type { Column } from '../../terminal/table.ts';
import { minute } from '../../terminal/words.ts';

const deliveriesJson = z.object({ deliveries: z.array(deliveryJson()) });

const COLUMNS: readonly Column<DeliveryJson>[] = [
  { title: 'Delivery', of: ({ id }) => id, least: 11, cut: 'middle' },
  { title: 'Created', of: ({ created_at }) => minute(created_at) },
  { title: 'State', of: ({ state }) => state },
  { title: 'Attempts', of: ({ attempts }) => String(attempts), right: true, leaves: 3 },
  { title: 'Next attempt', of: ({ next_attempt_at }) => minute(next_attempt_at), leaves: 1 },
  { title: 'Last error', of: ({ last_error }) => last_error ?? '', most: 40, least: 15, leaves: 4 },
  { title: 'Endpoint', of: ({ endpoint }) => endpoint, least: 11, cut: 'middle', leaves: 5 },
  { title: 'Payment', of: ({ index }) => index, least: 11, cut: 'middle', leaves: 2 },
];

/** Adds `webhooks list`, which shows deliveries and their state. */
export function addWebhooksList(webhooks: Command, io: CliIo): void {
  const command = withTable(webhooks.command('list'))
    .description("List deliveries of the wallet's payments, newest first.")
    .addOption(
      new Option('--state <state>', 'only deliveries in this state').choices(DELIVERY_STATES),
    )
    .option(
      '--limit <count>',
      'the largest number of deliveries to list, up to 500',
      readWholeIn(1, 500),
      50,
    )
    .option('--endpoint <endpoint>', 'only deliveries to this endpoint')
    .option('--before <delivery>', 'continue the list after this delivery');
  oneCall<typeof deliveriesJson, [], WebhookDeliveriesRequest>(io, command, {
    examples: ['webhooks list --state failed --limit 10'],
    call: (sidecar, { flags: { state, limit, before, endpoint } }) =>
      sidecar.webhookDeliveries({ state, limit, before, endpoint }),
    answer: deliveriesJson,
    lines: ({ deliveries }, _, { table }) =>
      deliveries.length === 0 ? ['No deliveries.'] : table(COLUMNS, deliveries),
  });
}
