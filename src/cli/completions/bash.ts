import type { CompletionFlag, CompletionNode } from './tree.ts';

/** Returns the completion script for bash 3.2 and newer. */
export function bashCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => `"${path}"`);
  return `# Completion of wallet-sidecar for bash: source it, or put it where bash-completion looks.
_wallet_sidecar() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local at="" word
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${at:+$at }$word" in
      ${paths.join('|')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at $previous" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case "$at" in
${nodes.map(wordsCase).join('\n')}
  esac
}
complete -o filenames -F _wallet_sidecar wallet-sidecar
`;
}

function valueCases({ path, flags }: CompletionNode): string[] {
  return flags.flatMap(({ spellings, takes, values }) => {
    if (takes === 'nothing') return [];
    const names = spellings.map((spelling) => `"${path} ${spelling}"`).join('|');
    return `    ${names}) ${VALUES[takes](values)}; return ;;`;
  });
}

function wordsCase({ path, commands, flags, values, takesFile }: CompletionNode): string {
  const candidates = [
    ...commands.map(({ word }) => word),
    ...values,
    ...flags.flatMap(({ spellings }) => spellings),
  ];
  const files = takesFile ? `; ${FILES}` : '';
  return `    "${path}") ${words(candidates)}${files} ;;`;
}

/** File names may contain spaces, so only line breaks separate them. */
const FILES = `local IFS=$'\\n'; COMPREPLY+=($(compgen -f -- "$current"))`;

const VALUES: Readonly<
  Record<Exclude<CompletionFlag['takes'], 'nothing'>, (values: readonly string[]) => string>
> = { file: () => FILES, text: words, list };

/** What stands before the last comma stays, and no space follows, so that a comma can. */
function list(values: readonly string[]): string {
  return `local last="\${current##*,}"; COMPREPLY=($(compgen -P "\${current%"$last"}" -W "${values.join(' ')}" -- "$last")); compopt -o nospace 2>/dev/null`;
}

function words(candidates: readonly string[]): string {
  return candidates.length === 0
    ? 'COMPREPLY=()'
    : `COMPREPLY=($(compgen -W "${candidates.join(' ')}" -- "$current"))`;
}
