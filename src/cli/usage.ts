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
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  balance: ['info'],
  start: ['serve', 'dev'],
  run: ['serve', 'dev'],
  status: ['health', 'info'],
  send: ['pay'],
  receive: ['invoice', 'address'],
  history: ['payments'],
  transactions: ['payments'],
  refund: ['pay --refund-of'],
  books: ['export'],
};

/**
 * Returns what is wrong with the words of a command, before commander reads them; null when nothing is. commander would
 * take an unknown word for an argument of the default command, and would print help for a group without a command.
 */
export function wrongCommandWords(program: Command, words: readonly string[]): string | null {
  let at = program;
  let depth = 0;
  for (; depth < words.length; depth++) {
    const next = at.commands.find((command) => command.name() === words[depth]);
    if (next === undefined) break;
    at = next;
  }
  if (at.commands.length === 0) return null;
  const word = words[depth];
  const names = at.commands.map((command) => command.name());
  if (at === program) {
    const typed = word === 'help' ? words[depth + 1] : word;
    if (typed === undefined || typed.startsWith('-')) return null;
    if (typed === 'help' || names.includes(typed)) return null;
    const all = [...names, ...pairs(program)];
    const near = OTHER_WORDS[typed] ?? similar(typed, all);
    return near.length > 0
      ? `unknown command '${typed}' (Did you mean ${near.join(' or ')}?)`
      : `unknown command '${typed}'. The nearest are ${nearest(typed, all).join(', ')}`;
  }
  if (word !== undefined) return null;
  return `'${words.slice(0, depth).join(' ')}' needs one of its commands ${names.join(', ')}`;
}

/** Returns what to tell a person who typed options before a command, which are those of `serve` then; else null. */
export function optionsFirst(program: Command, words: readonly string[]): string | null {
  if (!words[0]?.startsWith('-')) return null;
  const command = program.commands.find((one) => words.includes(one.name()));
  return command
    ? `Options stand after the command: "wallet-sidecar ${command.name()} ... ${words[0]} ...".`
    : null;
}

/** Returns the commands within groups by all their words, such as `seed new`, which may be typed as one word. */
function pairs(program: Command): string[] {
  return program.commands.flatMap((group) =>
    group.commands.map((command) => `${group.name()} ${command.name()}`),
  );
}
