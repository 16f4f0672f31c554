import type { Command } from 'commander';
import { withExamples } from '../../../examples.ts';
import type { CliIo } from '../../../io.ts';
import { addEndpointsAdd } from './add.ts';
import { addEndpointsList } from './list.ts';
import { addEndpointsRemove } from './remove.ts';
import { addEndpointsTest } from './test.ts';

/** Adds `webhooks endpoints`: commands that say where webhooks are sent. */
export function addWebhooksEndpoints(webhooks: Command, io: CliIo): void {
  const endpoints = webhooks
    .command('endpoints')
    .description("Where webhooks of the wallet's payments are sent, besides --webhook-url.");
  withExamples(
    endpoints,
    'webhooks endpoints add https://shop.example/hook',
    'webhooks endpoints test ep_2a2a...',
  );
  addEndpointsList(endpoints, io);
  addEndpointsAdd(endpoints, io);
  addEndpointsRemove(endpoints, io);
  addEndpointsTest(endpoints, io);
}
