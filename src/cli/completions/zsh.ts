import type { CompletionFlag, CompletionNode } from './tree.ts';

/** Returns the completion script for zsh, to put into a directory of `fpath` or to source. */
export function zshCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => `"${path}"`);
  return `#compdef wallet-sidecar
# Completion of wallet-sidecar for zsh: name it _wallet-sidecar in a directory of fpath, or source it.
_wallet_sidecar() {
  local at="" word
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${at:+$at }$word" in
      ${paths.join('|')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$at" in
${nodes.map(wordsCase).join('\n')}
  esac
  _describe wallet-sidecar candidates
}
if [ "\${funcstack[1]}" = "_wallet-sidecar" ]; then
  _wallet_sidecar "$@"
else
  compdef _wallet_sidecar wallet-sidecar
fi
`;
}

function valueCases({ path, flags }: CompletionNode): string[] {
  return flags
    .filter(({ takes }) => takes !== 'nothing')
    .map((flag) => {
      const names = flag.spellings.map((spelling) => `"${path} ${spelling}"`).join('|');
      return `    ${names}) ${valueAction(flag)}return ;;`;
    });
}

function valueAction({ takes, values }: CompletionFlag): string {
  if (takes === 'file') return '_files; ';
  if (takes === 'list') return `compset -P '*,'; compadd -q -S , -- ${values.join(' ')}; `;
  return values.length === 0 ? '' : `compadd -- ${values.join(' ')}; `;
}

function wordsCase({ path, commands, flags, values, takesFile }: CompletionNode): string {
  const candidates = [
    ...commands.map(({ word, description }) => candidate(word, description)),
    ...values.map((value) => candidate(value, value)),
    ...flags.flatMap(({ spellings, description }) =>
      spellings.map((spelling) => candidate(spelling, description)),
    ),
  ];
  return `    "${path}") candidates=(${candidates.join(' ')})${takesFile ? '; _files' : ''} ;;`;
}

function candidate(word: string, description: string): string {
  const text = `${word}:${description.replace(/[:\\]/g, '\\$&')}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
