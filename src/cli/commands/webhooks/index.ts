import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { addWebhooksList } from './list.ts';
import { addWebhooksRedeliver } from './redeliver.ts';
import { addWebhooksSecret } from './secret.ts';
import { addWebhooksVerify } from './verify.ts';

/** Adds `webhooks`: commands that list and repeat deliveries, and that create secrets and check signatures. */
export function addWebhooks(parent: Command, io: CliIo): void {
  const webhooks = parent
    .command('webhooks')
    .description('Webhook deliveries, secrets and signatures.');
  withExamples(webhooks, 'webhooks list --state failed', 'webhooks redeliver --since 1d');
  addWebhooksList(webhooks, io);
  addWebhooksRedeliver(webhooks, io);
  addWebhooksVerify(webhooks, io);
  addWebhooksSecret(webhooks, io);
}
