import type { Command } from 'commander';
import { HELP_WIDTH } from './terminal/help.ts';

const CONTINUED = ' \\';

/** Adds examples below a command's help. Each leaves out the program's name, but for a line of the shell's own. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const lines = examples.map((example) =>
    wrapped(`  $ ${example.startsWith('(') ? '' : 'wallet-sidecar '}${example}`.trimEnd()),
  );
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
}

/** Breaks a long command between words, never within quotes, as a shell reads it. */
function wrapped(line: string): string {
  const words = line.match(/\s*(?:"[^"]*"|[^\s"])+/g) ?? [];
  const lines: string[] = [''];
  for (const word of words) {
    const at = lines.length - 1;
    const longer = `${lines[at]}${word}`;
    if (longer.length + CONTINUED.length <= HELP_WIDTH) lines[at] = longer;
    else lines.push(`     ${word}`);
  }
  return lines.join(`${CONTINUED}\n`);
}
