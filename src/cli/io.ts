import type { Command } from 'commander';

/** What a command may touch of the world. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
}

/** Hangs one command, or a group of them, into the program; every command's file exports one. */
export type AddCommand = (parent: Command, io: CliIo) => void;
