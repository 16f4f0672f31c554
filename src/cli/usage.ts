import type { Command } from 'commander';
import { printable } from '../lib/printable.ts';
import { nearest, similar } from './similar.ts';

/** Returns commander's message as one sentence that ends in what to do. */
export function usageSentence(complaint: string): string {
  const said = complaint
    .replace(/^error: (command-argument )?/, '')
    .trim()
    .replace(/\.$/, '')
    .replace(/\.?\n\(/g, ' (')
    .replace(/\. ([A-Z])/g, (_, letter: string) => `: ${letter.toLowerCase()}`);
  return `${printable(said.charAt(0).toUpperCase() + said.slice(1))}; --help shows the usage.`;
}

/** Words that other programs have for what commands do. */
const OTHER_WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['balance', ['info']],
  ['start', ['serve', 'dev']],
  ['run', ['serve', 'dev']],
  ['status', ['health', 'info']],
  ['send', ['pay']],
  ['receive', ['invoice', 'address']],
  ['history', ['payments']],
  ['transactions', ['payments']],
  ['refund', ['pay --refund-of']],
  ['books', ['export']],
]);

/** Returns `help clients list` as `clients list --help`, which commander understands; null for other words. */
export function helpLast([first, ...rest]: readonly string[]): readonly string[] | null {
  return first === 'help' && rest[0] && !/^(-|help$)/.test(rest[0]) ? [...rest, '--help'] : null;
}

/**
 * Returns what is wrong with the words of a command, before commander reads them; null when nothing is. commander would
 * take an unknown word for an argument of the default command, and would print help for a group without a command.
 */
export function wrongCommandWords(program: Command, words: readonly string[]): string | null {
  const { at, depth } = commandOf(program, words);
  if (at.commands.length === 0) return null;
  const typed = words[depth];
  const names = at.commands.map((command) => command.name());
  if (typed === undefined) {
    if (at === program) return null;
    return `'${words.slice(0, depth).join(' ')}' needs one of its commands ${names.join(', ')}`;
  }
  if (typed === 'help' || typed.startsWith('-')) return null;
  const all = at === program ? [...names, ...pairs(program)] : names;
  const alike = all.length > 1 ? similar(typed, all) : all;
  const near = (at === program && OTHER_WORDS.get(typed)) || alike;
  return near.length > 0
    ? `unknown command '${typed}' (Did you mean ${near.join(' or ')}?)`
    : `unknown command '${typed}'. The nearest are ${nearest(typed, all).join(', ')}`;
}

/** Options that were typed before the command that they belong to. */
export interface OptionsFirst {
  /** The program, whose options are those of `serve` then, or a group of commands. */
  readonly of: Command;
  readonly option: string;
  readonly hint: string;
}

/** Returns what to tell a person who typed options before a command; else null. */
export function optionsFirst(program: Command, words: readonly string[]): OptionsFirst | null {
  const { at, depth } = commandOf(program, words);
  const option = words[depth];
  if (!option?.startsWith('-')) return null;
  const command = at.commands.find((one) => words.indexOf(one.name(), depth) > depth);
  if (command === undefined) return null;
  const path = ['wallet-sidecar', ...words.slice(0, depth), command.name()].join(' ');
  return { of: at, option, hint: `Options stand after the command: "${path} ... ${option} ...".` };
}

/** Returns the command that the first words name, and how many words do. */
function commandOf(program: Command, words: readonly string[]): { at: Command; depth: number } {
  let at = program;
  for (let depth = 0; ; depth++) {
    const next = at.commands.find((command) => command.name() === words[depth]);
    if (next === undefined) return { at, depth };
    at = next;
  }
}

/** Returns the commands within groups by all their words, such as `seed new`, which may be typed as one word. */
function pairs(program: Command): string[] {
  return program.commands.flatMap((group) =>
    group.commands.map((command) => `${group.name()} ${command.name()}`),
  );
}
