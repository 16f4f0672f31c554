import type { Command } from 'commander';
import { documentedProgram } from './documented-program.ts';

/** Returns the man page (roff with the macros of man) of the command line, made from its own help. */
export async function manPage(version: string): Promise<string> {
  const program = await documentedProgram(version);
  return [
    `.TH WALLET-SIDECAR 1 "" "wallet-sidecar ${version}" "User Commands"`,
    '.SH NAME',
    `wallet-sidecar \\- ${text(lowerFirst(program.description()))}`,
    '.SH SYNOPSIS',
    '.B wallet-sidecar',
    '.RI [ command ]\n.RI [ options ]',
    '.SH DESCRIPTION',
    text(
      'Without a command it runs the server. The other commands talk to a running server, and each has its own --help.',
    ),
    '.SH COMMANDS',
    ...leavesOf(program, []).flatMap(commandLines),
    '.SH EXIT STATUS',
    text(
      '0 when it worked, 1 when it was rejected, refused or failed, 2 for wrong usage, 130 after Ctrl-C.',
    ),
    '',
  ].join('\n');
}

interface Leaf {
  readonly path: readonly string[];
  readonly command: Command;
}

function leavesOf(command: Command, path: readonly string[]): Leaf[] {
  if (command.commands.length === 0) return [{ path, command }];
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]));
}

function commandLines({ path, command }: Leaf): string[] {
  const help = command.createHelp();
  return [
    `.SS "${text([...path.slice(0, -1), help.subcommandTerm(command)].join(' '))}"`,
    text(command.description()),
    ...command.registeredArguments.flatMap((argument) =>
      item(argument.name(), help.argumentDescription(argument)),
    ),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .flatMap((option) => item(help.optionTerm(option), help.optionDescription(option))),
  ];
}

function item(term: string, description: string): string[] {
  return ['.TP', `.B "${text(term)}"`, text(description)];
}

/** Escapes what roff would obey: backslashes, hyphens, quotes, and dots and quotes at the beginning of a line. */
function text(plain: string): string {
  return plain
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(/^[.']/gm, '\\&$&');
}

function lowerFirst(sentence: string): string {
  return sentence.replace(/^A /, 'a ').replace(/\.$/, '');
}
