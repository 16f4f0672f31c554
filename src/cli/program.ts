import { Command, CommanderError } from 'commander';
import type { ConnectKind } from '../model/connect.ts';
import { CallFailed } from './call-failed.ts';
import { addAddress } from './commands/address.ts';
import { addAnalyze } from './commands/analyze.ts';
import { addClients } from './commands/clients/index.ts';
import { addCompletions } from './commands/completions.ts';
import { addConnect } from './commands/connect.ts';
import { addInfo } from './commands/info.ts';
import { addInvoice } from './commands/invoice.ts';
import { addListen } from './commands/listen.ts';
import { addName } from './commands/name/index.ts';
import { addNote } from './commands/note.ts';
import { addOffer } from './commands/offer.ts';
import { addPay } from './commands/pay.ts';
import { addPayments } from './commands/payments.ts';
import { addProof } from './commands/proof/index.ts';
import { addSeed } from './commands/seed.ts';
import { addServers, type Serve } from './commands/serve.ts';
import { addTrigger } from './commands/trigger.ts';
import { addWait } from './commands/wait.ts';
import { addWebhooks } from './commands/webhooks/index.ts';
import { withExamples } from './examples.ts';
import { failure } from './failure.ts';
import type { AddCommand, CliIo } from './io.ts';
import { usageSentence, wrongCommandWords } from './usage.ts';

/** What the command line is built with. `src/app` passes in what depends on the server and on nodes. */
export interface ProgramOptions extends CliIo {
  readonly version: string;
  readonly serve: Serve;
  readonly connectKinds: Readonly<Record<string, ConnectKind>>;
}

/** Every command except the servers, under the headings of the help. */
const COMMANDS: Readonly<Record<string, readonly AddCommand[]>> = {
  'Wallet:': [addInfo, addPayments, addWait, addNote],
  'Receive:': [addInvoice, addOffer, addAddress, addName],
  'Send:': [addAnalyze, addPay, addProof],
  'Set up:': [addSeed, addClients, addWebhooks, addListen, addTrigger, addCompletions],
};

/** Builds the command line (docs/decisions.md 102). */
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

/** Runs the program. Resolves to its exit code; 0 while a server keeps running. */
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
    if (error instanceof CallFailed && error.json !== null) io.stdout(error.json);
    const { message, exitCode } = failure(error);
    io.stderr(message);
    return exitCode;
  }
}
