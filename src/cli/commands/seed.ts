import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import type { Command } from 'commander';
import { ROOT_SEED_BYTES, rootSeedPhrase } from '../../model/root-seed.ts';
import { withExamples } from '../examples.ts';
import type { CliIo } from '../io.ts';

/** Adds `seed new`, which creates a root seed and prints it once. */
export function addSeed(parent: Command, io: CliIo): void {
  const seed = parent.command('seed').description('Root seeds.');
  withExamples(seed, 'seed new > seed && chmod 600 seed');
  const command = seed
    .command('new')
    .description(
      'Create a new root seed. Anyone who has it controls the money: keep it in a file that only you can read.',
    )
    .option('--json', 'print JSON with both forms');
  withExamples(command, 'seed new > seed && chmod 600 seed', 'seed new --json').action(
    (flags: { readonly json?: boolean }) => {
      const bytes = new Uint8Array(randomBytes(ROOT_SEED_BYTES));
      const phrase = rootSeedPhrase(bytes);
      io.stdout(flags.json ? JSON.stringify({ root_seed: hex.encode(bytes), phrase }) : phrase);
    },
  );
}
