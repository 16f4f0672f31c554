import type { Argument, Help } from 'commander';

/** The widest that help is written, in characters. */
export const HELP_WIDTH = 80;

/** The width of the column with commands and flags. Longer ones stand on a line of their own. */
const TERM_WIDTH = 26;
const INDENT = '  ';

/** The layout of help: text stands in a column beside short terms and below long ones, and wraps. */
export const HELP_STYLE: Partial<Help> = {
  padWidth: () => TERM_WIDTH,
  subcommandTerm: (command) =>
    [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' '),
  // The list of commands shows what each is for; the command's own help says the rest.
  subcommandDescription: (command) =>
    /^.*?([.;](?= )|$)/.exec(command.description())?.[0].replace(/;$/, '.') ?? '',
  formatItem(term, termWidth, description, helper) {
    const column = ' '.repeat(INDENT.length + termWidth + INDENT.length);
    if (!description) return `${INDENT}${term}`;
    const text = helper
      .boxWrap(description, (helper.helpWidth ?? HELP_WIDTH) - column.length)
      .replaceAll('\n', `\n${column}`);
    return helper.displayWidth(term) > termWidth
      ? `${INDENT}${term}\n${column}${text}`
      : `${INDENT}${term.padEnd(termWidth)}${INDENT}${text}`;
  },
};

function argumentTerm(argument: Argument): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}
