import type { Command } from 'commander';
import { buildProgram } from '../src/cli/program.ts';
import { REMOTE_NODES } from '../src/nodes/kinds.ts';

/** Returns the command line as it is documented. Its commands must not be run. */
export function documentedProgram(version: string): Command {
  return buildProgram({
    version,
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
    serve: async () => undefined,
    migrate: async () => '',
    connectKinds: REMOTE_NODES,
  });
}
