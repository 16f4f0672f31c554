import type { Command, Option } from 'commander';

/** What can follow the words of one command, for the completion scripts. */
export interface CompletionNode {
  /** The words of the command with spaces between them; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Candidate[];
  readonly flags: readonly CompletionFlag[];
  /** The possible values of the first argument; empty when it takes any value. */
  readonly values: readonly string[];
  /** Whether the first argument is the name of a file. */
  readonly takesFile: boolean;
}

interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** A flag with all its spellings. */
export interface CompletionFlag {
  /** For example `-H` and `--header`. */
  readonly spellings: readonly string[];
  readonly description: string;
  /** A `list` takes several of the values, separated by commas. */
  readonly takes: 'nothing' | 'text' | 'file' | 'list';
  /** The possible values of the flag; empty when it takes any value. */
  readonly values: readonly string[];
}

/** Returns every command of the program, the program itself first. */
export function completionTree(program: Command): CompletionNode[] {
  return nodesOf(program, '');
}

function nodesOf(command: Command, path: string): CompletionNode[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const [argument] = command.registeredArguments;
  const node: CompletionNode = {
    path,
    commands: commands.map((child) => ({
      word: child.name(),
      description: child.description(),
    })),
    flags: help.visibleOptions(command).map((option) => ({
      spellings: [option.short, option.long].filter((name) => name !== undefined),
      description: option.description,
      takes: takenBy(option),
      values: option.argChoices ?? placeholderValues(option),
    })),
    values: argument?.argChoices ?? [],
    takesFile: argument?.name() === 'file',
  };
  return [
    node,
    ...commands.flatMap((child) => nodesOf(child, `${path} ${child.name()}`.trimStart())),
  ];
}

function takenBy(option: Option): CompletionFlag['takes'] {
  if (!option.required && !option.optional) return 'nothing';
  // What a flag takes shows in its placeholder, for people and for the scripts.
  if (/[<[](file|dir)[>\]]/.test(option.flags)) return 'file';
  return /[<[]names[>\]]/.test(option.flags) ? 'list' : 'text';
}

/** Settings of the server list their values in the placeholder, as in `<text|json>`. */
function placeholderValues(option: Option): string[] {
  return /[<[](\w+(?:\|\w+)+)[>\]]/.exec(option.flags)?.[1]?.split('|') ?? [];
}
