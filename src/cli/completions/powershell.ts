import type { CompletionFlag, CompletionNode } from './tree.ts';

/** Returns the completion script for PowerShell 5 and newer, to be run by the file that `$PROFILE` names. */
export function powershellCompletion(nodes: readonly CompletionNode[]): string {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `# Completion of wallet-sidecar for PowerShell. Add this line to the file that $PROFILE names:
# wallet-sidecar completions powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName 'wallet-sidecar', 'wallet-sidecar.exe' -ScriptBlock {
  param($current, $line, $cursor)
  $before = @($line.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
  $paths = @(${paths.join(', ')})
  $at = ''
  foreach ($word in $before) {
    $further = "$at $word".TrimStart()
    if ($paths -ccontains $further) { $at = $further }
  }
  $previous = if ($before.Count -gt 0) { $before[-1] } else { '' }
  # Each word is followed by its description. Where nothing is offered, PowerShell offers files.
  $offered = switch -CaseSensitive -Exact ("$at $previous") {
${nodes.flatMap(valueCases).join('\n')}
    default {
      switch -CaseSensitive -Exact ($at) {
${nodes.map(wordsCase).join('\n')}
      }
    }
  }
  $offered = @($offered)
  for ($i = 0; $i + 1 -lt $offered.Count; $i += 2) {
    if ($offered[$i].StartsWith($current)) {
      [System.Management.Automation.CompletionResult]::new($offered[$i], $offered[$i], 'ParameterValue', $offered[$i + 1])
    }
  }
}
`;
}

function valueCases({ path, flags }: CompletionNode): string[] {
  return flags
    .filter(({ takes }) => takes !== 'nothing')
    .flatMap((flag) => flag.spellings.map((name) => valueCase(`${path} ${name}`, flag)));
}

function valueCase(at: string, { values }: CompletionFlag): string {
  return `    ${quoted(at)} { ${values.map((value) => pair(value, value)).join(', ')} }`;
}

function wordsCase({ path, commands, flags, values }: CompletionNode): string {
  const pairs = [
    ...commands.map(({ word, description }) => pair(word, description)),
    ...values.map((value) => pair(value, value)),
    ...flags.flatMap(({ spellings, description }) =>
      spellings.map((spelling) => pair(spelling, description)),
    ),
  ];
  return `        ${quoted(path)} { ${pairs.join(', ')} }`;
}

/** A word and its description, which PowerShell does not allow to be empty. */
function pair(word: string, description: string): string {
  return `${quoted(word)}, ${quoted(description || word)}`;
}

/** PowerShell takes the typographic quotes for the plain one. */
function quoted(text: string): string {
  return `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
}
