import type { Answer } from '../http.ts';
import type { CliIo } from '../io.ts';

/** Prints an answer: as JSON with --json, otherwise as `lines`. */
export function show<T>(
  io: CliIo,
  flags: { readonly json?: boolean },
  answer: Answer<T>,
  lines: (value: T) => readonly string[],
): void {
  for (const line of flags.json ? [answer.json] : lines(answer.value)) io.stdout(line);
}
