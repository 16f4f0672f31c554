import type { Command } from 'commander';
import { printable } from './terminal/printable.ts';

/** Commander's complaint as one sentence that ends in what to do. */
export function usageSentence(complaint: string): string {
  const said = complaint
    .replace(/^error: (command-argument )?/, '')
    .trim()
    .replace(/\.$/, '')
    .replace(/\.?\n\(/g, ' (')
    .replace(/\. ([A-Z])/g, (_, letter: string) => `: ${letter.toLowerCase()}`);
  return `${printable(said.charAt(0).toUpperCase() + said.slice(1))}; --help shows how it is written.`;
}

/**
 * What is wrong with the command words, before commander sees them: it would take an unknown word for an argument
 * of the default command, and would answer a group without its command with a page of help. Null when nothing is.
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
  const names = at.commands.map((command) => command.name()).join(', ');
  if (at === program) {
    if (word === undefined || word.startsWith('-') || word === 'help') return null;
    return `unknown command '${word}'. There are ${names}`;
  }
  if (word !== undefined) return null;
  return `'${words.slice(0, depth).join(' ')}' needs one of its commands ${names}`;
}
