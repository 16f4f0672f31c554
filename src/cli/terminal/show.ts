import type { Answer } from '../http.ts';
import type { CliIo } from '../io.ts';
import { type Column, table } from './table.ts';

/** Prints an answer: as JSON with --json, otherwise as `lines`. */
export function show<T>(
  io: CliIo,
  flags: { readonly json?: boolean },
  answer: Answer<T>,
  lines: (value: T) => readonly string[],
): void {
  for (const line of flags.json ? [answer.json] : lines(answer.value)) io.stdout(line);
}

/** The value of the flag of every command that shows a table. */
export interface TableFlags {
  readonly wide?: boolean | undefined;
}

/**
 * Returns the lines of a table that fits the terminal; whole with --wide, and where stdout is not a terminal. A hint on
 * stderr says when something was left out.
 */
export function tableLines<Row>(
  io: CliIo,
  flags: TableFlags,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): string[] {
  const whole = table(columns, rows);
  const { columns: width } = io.terminal;
  if (flags.wide || width === null) return whole;
  const lines = table(columns, rows, width);
  if (lines.join() !== whole.join())
    io.stderr('Cut to the width of the terminal: --wide shows everything.');
  return lines;
}
