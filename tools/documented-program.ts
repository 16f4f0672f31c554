import type { Command } from 'commander';
import { addCommands } from '../src/cli/commands/index.ts';
import type { CliIo } from '../src/cli/io.ts';
import { buildProgram } from '../src/cli/program.ts';
import { remoteNodes } from '../src/nodes/kinds.ts';

const connectKinds = await remoteNodes();

/** What a command is run with that prints nothing and asks nobody. */
export const SILENT: CliIo = {
  env: {},
  cwd: '/',
  stdout: () => undefined,
  stderr: () => undefined,
  terminal: {
    columns: null,
    canAsk: false,
    ask: async () => null,
    progress: () => undefined,
    onInterrupt: () => () => undefined,
  },
};

/** Returns the command line as it is documented. Commands of a {@link SILENT} one must not be run. */
export function documentedProgram(version: string, io: CliIo = SILENT): Command {
  const program = buildProgram({ ...io, version, serve: async () => undefined });
  const said = async () => '';
  const files = { backup: said, restore: said, migrate: said, recoverLdk: async () => undefined };
  addCommands(program, { ...io, ...files, connectKinds });
  return program;
}
