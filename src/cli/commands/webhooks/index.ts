import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { addWebhooksList } from './list.ts';
import { addWebhooksRedeliver } from './redeliver.ts';
import { addWebhooksSecret } from './secret.ts';
import { addWebhooksVerify } from './verify.ts';

/** `webhooks`: what was sent, sending it again, and the two ends of a signature. */
export function addWebhooks(parent: Command, io: CliIo): void {
  const webhooks = parent.command('webhooks').description('Webhooks and their signatures.');
  withExamples(webhooks, 'webhooks list --state failed', 'webhooks redeliver --since 1d');
  addWebhooksList(webhooks, io);
  addWebhooksRedeliver(webhooks, io);
  addWebhooksVerify(webhooks, io);
  addWebhooksSecret(webhooks, io);
}
