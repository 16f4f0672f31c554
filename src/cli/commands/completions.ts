import { argument, local } from '../command.ts';
import { bashCompletion } from '../completions/bash.ts';
import { fishCompletion } from '../completions/fish.ts';
import { powershellCompletion } from '../completions/powershell.ts';
import { completionTree } from '../completions/tree.ts';
import { zshCompletion } from '../completions/zsh.ts';
import { jsonFlag } from '../options.ts';

const SHELLS = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
  powershell: powershellCompletion,
} as const;

/** Adds `completions`. The script is made from the commands of this binary, so that the two always match. */
export const addCompletions = local(
  'completions',
  {
    about: 'Print the completion script of a shell.',
    words: {
      shell: argument('<shell>', 'the shell', Object.keys(SHELLS) as (keyof typeof SHELLS)[]),
      json: jsonFlag,
    },
    examples: [
      'completions bash > ~/.local/share/bash-completion/completions/wallet-sidecar',
      'completions zsh > ~/.zfunc/_wallet-sidecar',
      'completions fish > ~/.config/fish/completions/wallet-sidecar.fish',
      'completions powershell | Out-String | Invoke-Expression',
    ],
  },
  ({ shell, json }, { io, command }) => {
    const script = SHELLS[shell](completionTree(command.parent ?? command));
    io.stdout(json ? JSON.stringify({ shell, script }) : script.trimEnd());
  },
);
