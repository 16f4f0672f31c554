import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/index.ts';
import { REMOTE_NODES } from '../../src/nodes/kinds.ts';

/** The program as its help tells of it; no command of it may be run. */
export function documentedProgram(): Command {
  return buildProgram({
    version: '0',
    env: {},
    cwd: '/',
    stdout: () => undefined,
    stderr: () => undefined,
    serve: async () => undefined,
    connectKinds: REMOTE_NODES,
  });
}
