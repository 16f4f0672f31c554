import type { Command } from 'commander';
import { addCommands } from '../src/cli/commands/index.ts';
import type { CliIo } from '../src/cli/io.ts';
import { buildProgram } from '../src/cli/program.ts';
import { remoteNodes } from '../src/nodes/kinds.ts';

/** What a command is run with that prints nothing and asks nobody. */
export const SILENT: CliIo = {
  env: {},
  cwd: '/',
  stdout: () => true,
  stderr: () => undefined,
  terminal: {
    columns: null,
    canAsk: false,
    ask: async () => null,
    progress: () => undefined,
    onInterrupt: () => () => undefined,
  },
};

/** Returns the command line as it is documented, or as it is made for these words. Commands of a {@link SILENT} one must not be run. */
export async function documentedProgram(
  version: string,
  io: CliIo = SILENT,
  words: readonly string[] = [],
): Promise<Command> {
  const program = buildProgram({ ...io, version, serve: async () => undefined });
  const said = async () => '';
  const files = { backup: said, restore: said, migrate: said, recoverLdk: async () => undefined };
  await addCommands(program, words, { ...io, ...files, connectKinds: remoteNodes });
  return program;
}
