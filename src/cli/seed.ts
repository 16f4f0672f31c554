import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { ROOT_SEED_BYTES, rootSeedPhrase } from '../model/root-seed.ts';
import type { CliIo } from './io.ts';

/** `seed new`: draws a root seed and prints it once. */
export function seedCommand(io: CliIo): Command {
  const seed = new Command('seed').description('Root seeds.').exitOverride();
  seed
    .command('new')
    .description(
      'Draw a new root seed. Whoever has it has the money: keep it in a file of your own.',
    )
    .option('--json', 'print JSON with both forms')
    .action((options: { json?: boolean }) => {
      const bytes = new Uint8Array(randomBytes(ROOT_SEED_BYTES));
      const phrase = rootSeedPhrase(bytes);
      const hex = Buffer.from(bytes).toString('hex');
      io.stdout(options.json ? JSON.stringify({ root_seed: hex, phrase }) : phrase);
    });
  return seed;
}
