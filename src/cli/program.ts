import { Command, CommanderError } from 'commander';
import { ConfigError } from '../config/sources.ts';
import { printable } from '../lib/printable.ts';
import { isApiError } from '../model/errors.ts';
import { CallFailed } from './call-failed.ts';
import { addServers, type Serve } from './commands/serve.ts';
import { timesInUtc } from './connection.ts';
import { withExamples } from './examples.ts';
import type { CliIo } from './io.ts';
import { HELP_STYLE, HELP_WIDTH } from './terminal/help.ts';
import {
  helpLast,
  type OptionsFirst,
  optionsFirst,
  usageSentence,
  wrongCommandWords,
} from './usage.ts';

/** What the command line is built with. `src/main.ts` passes in the server. */
interface ProgramOptions extends CliIo {
  readonly version: string;
  readonly serve: Serve;
}

const SERVERS: readonly string[] = ['serve', 'dev'];

/** Whether these words run a server, which starts without the other commands (docs/decisions.md 102). */
export function runsServer(words: readonly string[]): boolean {
  return SERVERS.includes(words[0] ?? '');
}

/** Builds the command line with the commands that run a server. */
export function buildProgram(options: ProgramOptions): Command {
  const program = new Command('wallet-sidecar')
    .description('A local HTTP API to a self-custodial Bitcoin and Lightning wallet.')
    .version(options.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => options.stdout(text.trimEnd()),
      writeErr: (text) => options.stderr(text.trimEnd()),
      outputError: (text, write) => write(usageSentence(text)),
      getOutHelpWidth: () => Math.min(options.terminal.columns ?? HELP_WIDTH, HELP_WIDTH),
    })
    .configureHelp(HELP_STYLE);
  withExamples(program, 'dev', 'invoice 1000 --wait', 'pay lnbc10u1p...', 'payments --since 7d');
  program.commandsGroup('Server:');
  addServers(program, options, options.serve);
  return program;
}

/** Runs the program. Resolves to its exit code; 0 while a server keeps running. */
export async function runProgram(
  program: Command,
  argv: readonly string[],
  io: CliIo,
): Promise<number> {
  const typed = argv.slice(2);
  const words = helpLast(typed) ?? typed;
  try {
    timesInUtc(words);
    const wrong = wrongCommandWords(program, words);
    if (wrong !== null) program.error(wrong);
    const first = optionsFirst(program, words);
    if (first !== null) sayFirst(first);
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    // commander has already written its own message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof CallFailed && error.json !== null) io.stdout(error.json);
    const { message, exitCode } = failure(error);
    io.stderr(message);
    return exitCode;
  }
}

/** Has `hint` said in place of what commander says of the first option or of the words after it. */
function sayFirst({ of, option, hint }: OptionsFirst): void {
  for (const command of [of, ...of.commands]) {
    command.configureOutput({
      outputError(text, write) {
        const isMeant = text.includes(`'${option}`) || text.includes('too many arguments');
        write(isMeant ? hint : usageSentence(text));
      },
    });
  }
}

/** Returns a sentence for stderr and the exit code: 2 for wrong usage, else 1 (docs/decisions.md 102). */
function failure(error: unknown): { message: string; exitCode: number } {
  if (!(error instanceof Error)) return { message: printable(String(error)), exitCode: 1 };
  const wrongUsage = error instanceof ConfigError || isApiError(error, 'rejected');
  return { message: printable(error.message), exitCode: wrongUsage ? 2 : 1 };
}
