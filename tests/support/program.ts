import type { Command } from 'commander';
import { documentedProgram as programOf } from '../../tools/documented-program.ts';

/** Returns the program, for tests of its help. Its commands must not be run. */
export function documentedProgram(words: readonly string[] = []): Promise<Command> {
  return programOf('0', undefined, words);
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
