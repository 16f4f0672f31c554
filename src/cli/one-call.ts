import type { Command } from 'commander';
import type { z } from 'zod';
import type { WalletSidecar } from '../client/index.ts';
import type { Transport } from '../client/transport.ts';
import { type ConnectionFlags, withConnection } from './connection.ts';
import { withExamples } from './examples.ts';
import { sidecarClient } from './http.ts';
import type { CliIo } from './io.ts';
import { agree, type SpendingFlags, spendOnce, withKey, withSpending } from './spending.ts';
import { show, type TableFlags, tableLines } from './terminal/show.ts';
import type { Column } from './terminal/table.ts';

/** What was typed: the arguments in order, and the flags. */
export interface Given<Args extends readonly unknown[], Flags> {
  readonly args: Args;
  readonly flags: Flags;
}

/** How a request that moves money is agreed on. */
interface Money<Args extends readonly unknown[], Flags> {
  /** The lines of the question before it; null where there is nothing to ask. */
  readonly question?: (given: Given<Args, Flags>) => readonly string[] | null;
  /** Flags that a person agrees to beside the given ones: the question names them and the request holds them. */
  readonly defaults?: (given: Given<Args, Flags>) => Readonly<Record<string, string>>;
}

/** A command that makes one call to the sidecar and shows the answer. */
interface OneCall<Args extends readonly unknown[], Flags, S extends z.ZodType> {
  readonly examples: readonly string[];
  /** Returns what is wrong with arguments or flags that are each well formed; null when nothing is. */
  readonly check?: (given: Given<Args, Flags>) => string | null;
  /** What is shown while the call takes long. */
  readonly doing?: string;
  /** For a request that moves money, which is sent under a key. */
  readonly money?: Money<Args, Flags>;
  readonly call: (
    sidecar: WalletSidecar,
    given: Given<Args, Flags>,
    besides: { readonly transport: Transport; readonly key: string | undefined },
  ) => Promise<unknown>;
  readonly answer: S;
  readonly lines: (
    value: z.output<S>,
    given: Given<Args, Flags>,
    output: Output,
  ) => readonly string[];
  /** Runs after the answer was shown, for example to end with an error for a payment that failed. */
  readonly after?: (value: z.output<S>) => void;
}

/** Helps to show an answer. */
interface Output {
  readonly io: CliIo;
  /** Returns the lines of a table that fits the terminal. */
  readonly table: <Row>(columns: readonly Column<Row>[], rows: readonly Row[]) => string[];
}

/** Makes a command of the command line from its description, arguments and own flags, and the call it makes. */
export function oneCall<
  S extends z.ZodType,
  Args extends readonly unknown[] = [],
  Flags = Record<never, never>,
>(io: CliIo, command: Command, spec: OneCall<Args, Flags, S>): void {
  const { examples, check, doing, money, answer: schema, lines, after } = spec;
  if (money) (money.question ? withSpending : withKey)(command);
  withExamples(withConnection(command), ...examples).action(async () => {
    const flags = command.opts<Flags & ConnectionFlags & SpendingFlags & TableFlags>();
    const given = { args: command.processedArgs as unknown as Args, flags };
    const wrong = check?.(given) ?? null;
    if (wrong !== null) command.error(wrong);
    const ask = sidecarClient(io, flags);
    const asks = money?.question !== undefined && !flags.yes && io.terminal.canAsk;
    // What was given is typed again in a repeat; its default would replace it.
    const defaults = Object.fromEntries(
      Object.entries((asks && money.defaults?.(given)) || {}).filter(([name]) => !(name in flags)),
    );
    const agreed = { ...given, flags: { ...defaults, ...flags } };
    const question = money?.question?.(agreed) ?? null;
    if (question !== null) await agree(io, flags, question);
    const send = (key?: string) =>
      ask((sidecar, transport) => spec.call(sidecar, agreed, { transport, key }), schema, doing);
    const repeat = asks ? ['--yes', ...flagWords(defaults)] : [];
    const answer = await (money
      ? spendOnce(io, { key: flags.idempotencyKey, flags: repeat, send })
      : send());
    const table: Output['table'] = (columns, rows) => tableLines(io, flags, columns, rows);
    show(io, flags, answer, (value) => lines(value, given, { io, table }));
    after?.(answer.value);
  });
}

/** Returns values as flags of the command line, by their names in commander. */
function flagWords(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    value,
  ]);
}
