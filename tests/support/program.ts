import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/program.ts';
import { REMOTE_NODES } from '../../src/nodes/kinds.ts';

/** Returns the program, for tests of its help. Its commands must not be run. */
export function documentedProgram(): Command {
  return buildProgram({
    version: '0',
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
    connectKinds: REMOTE_NODES,
  });
}

/** A command and the words that call it. */
export interface DocumentedCommand {
  readonly path: readonly string[];
  readonly command: Command;
}

/** Returns every command below one, groups included. */
export function commandsOf(command: Command, path: readonly string[] = []): DocumentedCommand[] {
  return command.commands.flatMap((child) => {
    const here = [...path, child.name()];
    return [{ path: here, command: child }, ...commandsOf(child, here)];
  });
}
