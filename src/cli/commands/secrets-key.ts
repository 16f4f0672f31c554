import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import type { Command } from 'commander';
import { withExamples } from '../examples.ts';
import type { CliIo } from '../io.ts';

const KEY_BYTES = 32;

/** Adds `secrets-key`, which creates a key for what is stored and prints it once. */
export function addSecretsKey(parent: Command, io: CliIo): void {
  const command = parent
    .command('secrets-key')
    .description(
      'Create a key for --secrets-key, which signs what is stored and seals secrets in a PostgreSQL database. Keep it apart from the database.',
    )
    .option('--json', 'print JSON');
  withExamples(command, 'secrets-key > secrets-key && chmod 600 secrets-key').action(
    (flags: { readonly json?: boolean }) => {
      const key = hex.encode(new Uint8Array(randomBytes(KEY_BYTES)));
      io.stdout(flags.json ? JSON.stringify({ secrets_key: key }) : key);
    },
  );
}
