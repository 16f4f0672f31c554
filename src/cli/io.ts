import type { Command } from 'commander';

/** The parts of the outside world that a command may use. */
export interface CliIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Writes a line. Returns whether further lines can be read: not after the reader has ended or the disk is full. */
  readonly stdout: (line: string) => boolean;
  readonly stderr: (line: string) => void;
  readonly terminal: Terminal;
}

/** What a person in front of the program sees and types. Where there is nobody, nothing is asked. */
export interface Terminal {
  /** The width of stdout in characters; null where it is not a terminal. */
  readonly columns: number | null;
  /** Whether a question can be asked: stdin and stdout are terminals. */
  readonly canAsk: boolean;
  /** Shows a question and returns the answer; null when the input ends. */
  ask(question: string): Promise<string | null>;
  /** Shows text in one line of stderr, in place of the one before; null removes it. Only on a terminal. */
  progress(text: string | null): void;
  /** Calls `act` on Ctrl-C before the program ends with exit code 130, until the returned function is called. */
  onInterrupt(act: () => void): () => void;
}

/** Adds one command or a group of commands to the program. Each command's file exports one such function. */
export type AddCommand = (parent: Command, io: CliIo) => void;
