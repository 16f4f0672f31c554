import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/index.ts';

/** The program as its help tells of it; no command of it may be run. */
export function documentedProgram(): Command {
  return buildProgram({
    version: '0',
    env: {},
    cwd: '/',
    stdout: () => undefined,
    stderr: () => undefined,
    serve: async () => undefined,
    connectLnd: async () => {
      throw new Error('what is only read asks no node');
    },
  });
}
