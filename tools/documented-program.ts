import type { Command } from 'commander';
import { addCommands } from '../src/cli/commands/index.ts';
import { buildProgram } from '../src/cli/program.ts';
import { remoteNodes } from '../src/nodes/kinds.ts';

const connectKinds = await remoteNodes();

/** Returns the command line as it is documented. Its commands must not be run. */
export function documentedProgram(version: string): Command {
  const io = {
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
  const program = buildProgram({ ...io, version, serve: async () => undefined });
  const said = async () => '';
  const files = { backup: said, restore: said, migrate: said };
  addCommands(program, { ...io, ...files, connectKinds });
  return program;
}
