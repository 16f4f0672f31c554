import { ConfigError } from '../config/sources.ts';
import { printable } from '../lib/printable.ts';
import { isApiError } from '../model/errors.ts';

/** Returns a sentence for stderr and the exit code: 2 for wrong usage, else 1 (docs/decisions.md 102). */
export function failure(error: unknown): { message: string; exitCode: number } {
  if (!(error instanceof Error)) return { message: printable(String(error)), exitCode: 1 };
  const wrongUsage = error instanceof ConfigError || isApiError(error, 'rejected');
  return { message: printable(error.message), exitCode: wrongUsage ? 2 : 1 };
}
