import { Command, CommanderError } from 'commander';
import { addAddress } from './address.ts';
import { addAnalyze } from './analyze.ts';
import { CallRefused } from './call-refused.ts';
import { addClients } from './clients.ts';
import { addCompletions } from './completions.ts';
import { addConnect, type ConnectKind } from './connect.ts';
import { withExamples } from './examples.ts';
import { failure } from './failure.ts';
import { addInfo } from './info.ts';
import { addInvoice } from './invoice.ts';
import type { AddCommand, CliIo } from './io.ts';
import { addNote } from './note.ts';
import { addOffer } from './offer.ts';
import { addPay } from './pay.ts';
import { addPayments } from './payments.ts';
import { addProof } from './proof.ts';
import { addSeed } from './seed.ts';
import { addServers, type Serve } from './serve.ts';
import { usageSentence, wrongCommandWords } from './usage.ts';
import { addWait } from './wait.ts';
import { addWebhooks } from './webhooks.ts';

/** What the program is built with; the composition root passes what knows servers and nodes. */
export interface ProgramOptions extends CliIo {
  readonly version: string;
  readonly serve: Serve;
  readonly connectKinds: Readonly<Record<string, ConnectKind>>;
}

/** Every command besides the servers, under the headings of the help; completions and tests read the same tree. */
const COMMANDS: Readonly<Record<string, readonly AddCommand[]>> = {
  'Wallet:': [addInfo, addPayments, addWait, addNote],
  'Receive:': [addInvoice, addOffer, addAddress],
  'Send:': [addAnalyze, addPay, addProof],
  'Set up:': [addSeed, addClients, addWebhooks, addCompletions],
};

/** Builds the command line (decisions section 10). Wrong usage ends with exit code 2, a refusal with 1. */
export function buildProgram(options: ProgramOptions): Command {
  const program = new Command('wallet-sidecar')
    .description('A local HTTP API to a self-custodial Bitcoin and Lightning wallet.')
    .version(options.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => options.stdout(text.trimEnd()),
      writeErr: (text) => options.stderr(text.trimEnd()),
      outputError: (text, write) => write(usageSentence(text)),
    });
  withExamples(program, 'dev', 'invoice 1000 --wait', 'pay lnbc10u1p...', 'payments --since 7d');
  program.commandsGroup('Server:');
  addServers(program, options.serve);
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, options);
  }
  addConnect(program, options, options.connectKinds);
  return program;
}

/** Runs the program and returns its exit code; 0 while a server goes on running. */
export async function runProgram(
  program: Command,
  argv: readonly string[],
  io: CliIo,
): Promise<number> {
  try {
    const wrong = wrongCommandWords(program, argv.slice(2));
    if (wrong !== null) program.error(wrong);
    await program.parseAsync(argv);
    return 0;
  } catch (error) {
    // commander has already written its own message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof CallRefused && error.json !== null) io.stdout(error.json);
    const { message, exitCode } = failure(error);
    io.stderr(message);
    return exitCode;
  }
}
