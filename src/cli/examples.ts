import type { Command } from 'commander';

/** Shows how a command is written, below its help. Lines begin after `wallet-sidecar`. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  const lines = examples.map((example) => `  $ wallet-sidecar ${example}`.trimEnd());
  return command.addHelpText('after', ['', 'Examples:', ...lines].join('\n'));
}
