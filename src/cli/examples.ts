import type { Command } from 'commander';

/** Adds examples below a command's help. Each example leaves out the program's name. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ wallet-sidecar ${example}`.trimEnd());
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
}
