import type { Command } from 'commander';

/** The parts of the outside world that a command may use. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
}

/** Adds one command or a group of commands to the program. Each command's file exports one such function. */
export type AddCommand = (parent: Command, io: CliIo) => void;
