import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { WebhookDeliveriesRequest } from '../../../client/index.ts';
import { DELIVERY_STATES, type DeliveryJson, deliveryJson } from '../../../model/delivery.ts';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import { readWholeIn } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { show, type TableFlags, tableLines, withTable } from '../../terminal/show.ts';
import type { Column } from '../../terminal/table.ts';
import { minute } from '../../terminal/words.ts';

const deliveriesJson = z.object({ deliveries: z.array(deliveryJson) });

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
  const command = webhooks
    .command('list')
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
  withExamples(
    withConnection(withTable(command)),
    'webhooks list --state failed --limit 10',
  ).action(async (flags: ConnectionFlags & TableFlags & WebhookDeliveriesRequest) => {
    const { state, limit, before, endpoint } = flags;
    const answer = await sidecarClient(io, flags)(
      (sidecar) => sidecar.webhookDeliveries({ state, limit, before, endpoint }),
      deliveriesJson,
    );
    show(io, flags, answer, ({ deliveries }) =>
      deliveries.length === 0 ? ['No deliveries.'] : tableLines(io, flags, COLUMNS, deliveries),
    );
  });
}
