import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { WebhookDeliveriesRequest } from '../../../client/index.ts';
import { DELIVERY_STATES, type DeliveryJson, deliveryJson } from '../../../model/delivery.ts';
import { type ConnectionFlags, withConnection } from '../../connection.ts';
import { withExamples } from '../../examples.ts';
import { sidecarClient } from '../../http.ts';
import { readWhole } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { show } from '../../terminal/show.ts';
import { type Column, table } from '../../terminal/table.ts';
import { moment } from '../../terminal/words.ts';

const deliveriesJson = z.object({ deliveries: z.array(deliveryJson) });

const COLUMNS: readonly Column<DeliveryJson>[] = [
  { title: 'Delivery', of: ({ id }) => id },
  { title: 'Created (UTC)', of: ({ created_at }) => moment(created_at) },
  { title: 'State', of: ({ state }) => state },
  { title: 'Attempts', of: ({ attempts }) => String(attempts), right: true },
  { title: 'Next attempt (UTC)', of: ({ next_attempt_at }) => moment(next_attempt_at) },
  { title: 'Last error', of: ({ last_error }) => last_error ?? '', most: 40 },
  { title: 'Endpoint', of: ({ endpoint }) => endpoint },
  { title: 'Payment', of: ({ index }) => index },
];

/** Adds `webhooks list`, which shows deliveries and their state. */
export function addWebhooksList(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('list')
    .description("List deliveries of the wallet's payments, newest first.")
    .addOption(
      new Option('--state <state>', 'only deliveries in this state').choices(DELIVERY_STATES),
    )
    .option('--limit <count>', 'the largest number of deliveries to list, up to 500', readWhole, 50)
    .option('--endpoint <endpoint>', 'only deliveries to this endpoint')
    .option('--before <delivery>', 'continue the list after this delivery');
  withExamples(withConnection(command), 'webhooks list --state failed --limit 10').action(
    async (flags: ConnectionFlags & WebhookDeliveriesRequest) => {
      const { state, limit, before, endpoint } = flags;
      const answer = await sidecarClient(io, flags)(
        (sidecar) => sidecar.webhookDeliveries({ state, limit, before, endpoint }),
        deliveriesJson,
      );
      show(io, flags, answer, ({ deliveries }) =>
        deliveries.length === 0 ? ['No deliveries.'] : table(COLUMNS, deliveries),
      );
    },
  );
}
