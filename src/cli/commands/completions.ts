import { Argument, type Command } from 'commander';
import { bashCompletion } from '../completions/bash.ts';
import { fishCompletion } from '../completions/fish.ts';
import { powershellCompletion } from '../completions/powershell.ts';
import { completionTree } from '../completions/tree.ts';
import { zshCompletion } from '../completions/zsh.ts';
import { withExamples } from '../examples.ts';
import type { CliIo } from '../io.ts';

/** The function that writes the completion script of each shell. */
const SHELLS = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
} as const;

/** Adds `completions`. The script is made from the commands of this binary, so that the two always match. */
export function addCompletions(parent: Command, io: CliIo): void {
  const command = parent
    .command('completions')
    .description('Print the completion script of a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SHELLS)))
    .option('--json', 'print JSON');
  withExamples(
    command,
    'completions bash > ~/.local/share/bash-completion/completions/wallet-sidecar',
    'completions zsh > ~/.zfunc/_wallet-sidecar',
    'completions fish > ~/.config/fish/completions/wallet-sidecar.fish',
    'completions powershell | Out-String | Invoke-Expression',
  ).action((shell: keyof typeof SHELLS, flags: { readonly json?: boolean }) => {
    const script = SHELLS[shell](completionTree(parent));
    io.stdout(flags.json ? JSON.stringify({ shell, script }) : script.trimEnd());
  });
}
