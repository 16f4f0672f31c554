import type { CompletionFlag, CompletionNode } from './tree.ts';

/** Returns the completion script for fish. */
export function fishCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `# Completion of wallet-sidecar for fish: put it into ~/.config/fish/completions.
function __wallet_sidecar_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l further $at $word
        if contains -- "$further" ${paths.join(' ')}
            set at $further
        end
    end
    test "$at" = "$argv[1]"
end
function __wallet_sidecar_list
    set -l before (commandline -ct | string replace -r '[^,=]*$' '')
    for value in $argv
        echo $before$value
    end
end
complete -c wallet-sidecar -f
${nodes.flatMap(lines).join('\n')}
`;
}

function lines(node: CompletionNode): string[] {
  const { path, commands, flags, values, takesFile } = node;
  const start = `complete -c wallet-sidecar -n '__wallet_sidecar_at "${path}"'`;
  return [
    ...commands.map(
      ({ word, description }) => `${start} -a ${quoted(word)} -d ${quoted(description)}`,
    ),
    ...values.map((value) => `${start} -a ${quoted(value)}`),
    ...(takesFile ? [`${start} -F`] : []),
    ...flags.map((flag) => `${start} ${flagWords(flag)} -d ${quoted(flag.description)}`),
  ];
}

function flagWords({ spellings, takes, values }: CompletionFlag): string {
  const names = spellings.map((spelling) =>
    spelling.startsWith('--') ? `-l ${spelling.slice(2)}` : `-s ${spelling.slice(1)}`,
  );
  if (takes === 'file') names.push('-r', '-F');
  if (takes === 'text' || takes === 'list') names.push('-x');
  if (takes === 'list') names.push('-a', quoted(`(__wallet_sidecar_list ${values.join(' ')})`));
  else if (values.length > 0) names.push('-a', quoted(values.join(' ')));
  return names.join(' ');
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
