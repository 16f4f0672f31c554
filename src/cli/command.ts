import { Argument, type Command, Option } from 'commander';
import { type ConnectionFlags, withConnection } from './connection.ts';
import { withExamples } from './examples.ts';
import { type AskSidecar, sidecarClient } from './http.ts';
import type { AddCommand, CliIo } from './io.ts';

/** Something that is typed after a command's name: an argument or a flag. */
export interface Word<T> {
  /** Adds it to a command. Returns a function that reads what was typed. */
  readonly addTo: (command: Command) => () => T;
  /** Asks the sidecar what a name that was typed means. Throws CallFailed where it means nothing, or several things. */
  find?(typed: NonNullable<T>, asking: Finding): Promise<NonNullable<T>>;
}

/** What is needed to find out what was meant. */
export interface Finding {
  readonly io: CliIo;
  readonly ask: AskSidecar;
}

/** Reads a value and throws InvalidArgumentError for a wrong one, or lists the values that may be typed. */
type Read<T> = ((text: string, before?: T) => T) | readonly T[];
type AnyRead = ((text: string, before?: never) => unknown) | readonly unknown[];

/** Makes an argument: of the form `<name>` it must be typed, of the form `[name]` it may be. */
interface MakeArgument {
  (form: `<${string}>`, about: string): Word<string>;
  (form: `[${string}]`, about: string): Word<string | undefined>;
  <const T>(form: `<${string}>`, about: string, read: Read<T>): Word<T>;
  <const T>(form: `[${string}]`, about: string, read: Read<T>): Word<T | undefined>;
  <const T>(form: string, about: string, read: Read<T> | undefined, fallback: T): Word<T>;
}

/** Makes a flag: of the form `--name <value>` it has a value, without one it is true where it is given. */
interface MakeFlag {
  (form: `--${string} <${string}>`, about: string): Word<string | undefined>;
  <const T>(form: `--${string} <${string}>`, about: string, read: Read<T>): Word<T | undefined>;
  <const T>(form: string, about: string, read: Read<T>, fallback: T): Word<T>;
  (form: `--no-${string}`, about: string): Word<boolean>;
  (form: `--${string}`, about: string): Word<boolean | undefined>;
}

/** Returns an argument. */
export const argument: MakeArgument = (
  form: string,
  about: string,
  read?: AnyRead,
  fallback?: unknown,
): Word<never> => ({
  addTo(command) {
    const at = command.registeredArguments.length;
    command.addArgument(reading(new Argument(form, about).default(fallback), read));
    return () => command.processedArgs[at] as never;
  },
});

/** Returns a flag. */
export const flag: MakeFlag = (
  form: string,
  about: string,
  read?: AnyRead,
  fallback?: unknown,
): Word<never> => optionWord(() => reading(new Option(form, about).default(fallback), read));

/** Returns an option of commander as a word. */
export function optionWord<T>(make: () => Option): Word<T> {
  return {
    addTo(command) {
      const option = make();
      command.addOption(option);
      return () => command.getOptionValue(option.attributeName());
    },
  };
}

function reading<W extends Argument | Option>(word: W, read: AnyRead | undefined): W {
  if (typeof read === 'function')
    word.argParser(read as (text: string, before: unknown) => unknown);
  else if (read !== undefined) word.choices(read.map(String));
  return word;
}

/** The words of a command, by the names under which their values are given to its action. */
export type Words = Readonly<Record<string, Word<unknown>>>;

/** What was typed for each word. */
export type Given<W extends Words> = {
  readonly [Name in keyof W]: W[Name] extends Word<infer T> ? T : never;
};

/** A command as data. */
export interface CommandSpec<W extends Words> {
  readonly about: string;
  readonly examples: readonly string[];
  /** In the order of the help. */
  readonly words?: W;
  /** Returns what is wrong with words that are each well formed; null when nothing is. Nothing was asked before. */
  readonly check?: (given: Given<W>) => string | null;
}

interface Acting {
  readonly io: CliIo;
  readonly command: Command;
}

/** What the action of a command that calls a sidecar has besides its words. */
export interface Asking extends Acting {
  readonly flags: ConnectionFlags;
  readonly ask: AskSidecar;
}

/** The heading of the help for what few people need. */
export const ADVANCED = 'Advanced:';

/** Returns a group of commands, of which `advanced` stand under a heading of their own. */
export function group(
  name: string,
  { about, examples }: CommandSpec<Words>,
  commands: readonly AddCommand[],
  advanced: readonly AddCommand[] = [],
): AddCommand {
  return (parent, io) => {
    const made = withExamples(parent.command(name).description(about), ...examples);
    for (const add of commands) add(made, io);
    if (advanced.length > 0) made.commandsGroup(ADVANCED);
    for (const add of advanced) add(made, io);
  };
}

/** Returns a command that does its work in this process. */
export function local<W extends Words = Record<never, never>>(
  name: string,
  spec: CommandSpec<W>,
  act: (given: Given<W>, acting: Acting) => Promise<void> | void,
): AddCommand {
  return (parent, io) => {
    const { command, given } = made(parent, name, spec);
    command.action(async () => act(given(), { io, command }));
  };
}

/** Returns a command that calls a sidecar, which its flags name. `more` adds flags after its own. */
export function asking<W extends Words = Record<never, never>>(
  name: string,
  spec: CommandSpec<W>,
  act: (given: Given<W>, asking: Asking) => Promise<void>,
  more: (command: Command) => Command = (command) => command,
): AddCommand {
  return (parent, io) => {
    const { command, given } = made(parent, name, spec);
    withConnection(more(command)).action(async () => {
      const flags = command.opts<ConnectionFlags>();
      const ask: AskSidecar = (...asked) => sidecarClient(io, flags)(...asked);
      const typed = given();
      await act(await found(typed, spec.words, { io, ask }), { io, command, flags, ask });
    });
  };
}

function made<W extends Words>(parent: Command, name: string, spec: CommandSpec<W>) {
  const { about, examples, words } = spec;
  const command = withExamples(parent.command(name).description(about), ...examples);
  const readers = Object.entries(words ?? {}).map(([key, word]) => [key, word.addTo(command)]);
  const given = () => {
    const typed = Object.fromEntries(
      (readers as [string, () => unknown][]).map(([key, read]) => [key, read()]),
    ) as Given<W>;
    const wrong = spec.check?.(typed) ?? null;
    if (wrong !== null) command.error(wrong);
    return typed;
  };
  return { command, given };
}

/** Returns what was typed with what it means in place of names. */
async function found<W extends Words>(
  typed: Given<W>,
  words: W | undefined,
  finding: Finding,
): Promise<Given<W>> {
  const given: Record<string, unknown> = { ...typed };
  for (const [name, word] of Object.entries(words ?? {})) {
    const value = given[name];
    if (value !== undefined && value !== null)
      given[name] = (await word.find?.(value, finding)) ?? value;
  }
  return given as Given<W>;
}
