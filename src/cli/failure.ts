import { printable } from './printable.ts';

/** Errors whose message is written for the person at the terminal, by name. */
const WRONG_USAGE: ReadonlySet<string> = new Set(['ConfigError']);

/** One sentence for stderr and the exit code: 2 for wrong usage, 1 for what was refused or failed. */
export function failure(error: unknown): { message: string; exitCode: number } {
  if (!(error instanceof Error)) return { message: printable(String(error)), exitCode: 1 };
  return { message: printable(error.message), exitCode: WRONG_USAGE.has(error.name) ? 2 : 1 };
}
