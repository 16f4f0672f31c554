import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { addWebhooksEndpoints } from './endpoints/index.ts';
import { addWebhooksList } from './list.ts';
import { addWebhooksRedeliver } from './redeliver.ts';
import { addWebhooksSecret } from './secret.ts';
import { addWebhooksShow } from './show.ts';
import { addWebhooksVerify } from './verify.ts';

/** Adds `webhooks`: commands for endpoints and deliveries, and that create secrets and check signatures. */
export function addWebhooks(parent: Command, io: CliIo): void {
  const webhooks = parent
    .command('webhooks')
    .description('Webhook endpoints, deliveries, secrets and signatures.');
  withExamples(webhooks, 'webhooks list --state failed', 'webhooks redeliver --since 1d');
  addWebhooksEndpoints(webhooks, io);
  addWebhooksList(webhooks, io);
  addWebhooksShow(webhooks, io);
  addWebhooksRedeliver(webhooks, io);
  addWebhooksVerify(webhooks, io);
  addWebhooksSecret(webhooks, io);
}
