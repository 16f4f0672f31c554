import { Command, CommanderError, Option } from 'commander';
import { OPTIONS, type OptionSpec } from '../config/options.ts';
import type { Flags } from '../config/sources.ts';
import { type ConnectLnd, connectCommand } from './connect.ts';
import { failure } from './failure.ts';
import type { CliIo } from './io.ts';
import { proofCommand } from './proof.ts';
import { seedCommand } from './seed.ts';

/** What the program is built with; the composition root passes `serve`, so that the CLI imports no server. */
export interface ProgramOptions extends CliIo {
  readonly version: string;
  readonly serve: (mode: 'serve' | 'dev', flags: Flags) => Promise<void>;
  readonly connectLnd: ConnectLnd;
}

/** Builds the command line (decisions section 10). Wrong usage ends with exit code 2, a refusal with 1. */
export function buildProgram(options: ProgramOptions): Command {
  const program = new Command('wallet-sidecar')
    .description('A local HTTP API to a self-custodial Bitcoin and Lightning wallet.')
    .version(options.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => options.stdout(text.trimEnd()),
      writeErr: (text) => options.stderr(text.trimEnd()),
    });
  program.addCommand(serveCommand('serve', 'Run the server.', options), { isDefault: true });
  program.addCommand(
    serveCommand('dev', 'Run the server on the sandbox node with a funded trial wallet.', options),
  );
  program.addCommand(connectCommand(options, options.connectLnd));
  program.addCommand(seedCommand(options));
  program.addCommand(proofCommand(options));
  return program;
}

/** Runs the program and answers its exit code; 0 while a server goes on running. */
export async function runProgram(
  program: Command,
  argv: readonly string[],
  io: CliIo,
): Promise<number> {
  try {
    await program.parseAsync(argv);
    return 0;
  } catch (error) {
    // commander has already written its own message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const { message, exitCode } = failure(error);
    io.stderr(message);
    return exitCode;
  }
}

function serveCommand(
  mode: 'serve' | 'dev',
  description: string,
  options: ProgramOptions,
): Command {
  const command = new Command(mode).description(description).exitOverride();
  for (const option of Object.values<OptionSpec>(OPTIONS)) command.addOption(flagOf(option));
  return command.action(async () => {
    const flags = Object.fromEntries(
      Object.values<OptionSpec>(OPTIONS).map(({ flag }) => [
        flag,
        command.getOptionValue(camel(flag)),
      ]),
    );
    await options.serve(mode, flags);
  });
}

function flagOf(option: OptionSpec): Option {
  const flags = option.value ? `--${option.flag} <${option.value}>` : `--${option.flag}`;
  const flag = new Option(
    flags,
    `${option.description} [${option.env}; default: ${option.fallback}]`,
  );
  return option.repeatable
    ? flag.argParser((value: string, before: string[] = []) => [...before, value])
    : flag;
}

function camel(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
