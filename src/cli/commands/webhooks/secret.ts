import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';

/** The length of a new secret in bytes; 24 to 64 are allowed (docs/decisions.md 93). */
const SECRET_BYTES = 32;

/** Adds `webhooks secret`, which creates a signing secret. */
export function addWebhooksSecret(webhooks: Command, io: CliIo): void {
  const command = webhooks
    .command('secret')
    .description('Create a new signing secret for --webhook-secret and for the receiver.')
    .option('--json', 'print JSON');
  withExamples(command, 'webhooks secret').action((flags: { readonly json?: boolean }) => {
    const secret = `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
    io.stdout(flags.json ? JSON.stringify({ webhook_secret: secret }) : secret);
    io.stderr('Keep it secret: anyone who has it can sign webhooks that your receiver accepts.');
  });
}
