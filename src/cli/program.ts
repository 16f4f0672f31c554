import { Command, CommanderError } from 'commander';
import type { ConnectKind } from '../model/connect.ts';
import { CallFailed } from './call-failed.ts';
import { addAddress } from './commands/address.ts';
import { addAnalyze } from './commands/analyze.ts';
import { addBump } from './commands/bump.ts';
import { addBuy } from './commands/buy.ts';
import { addCancel } from './commands/cancel.ts';
import { addChannels } from './commands/channels/index.ts';
import { addClients } from './commands/clients/index.ts';
import { addCompletions } from './commands/completions.ts';
import { addConnect } from './commands/connect.ts';
import { addConsole } from './commands/console.ts';
import { addEvents } from './commands/events.ts';
import { addExport } from './commands/export.ts';
import { addHealth } from './commands/health.ts';
import { addInfo } from './commands/info.ts';
import { addInvoice } from './commands/invoice.ts';
import { addKeysend } from './commands/keysend.ts';
import { addListen } from './commands/listen.ts';
import { addMigrate, type Migrate } from './commands/migrate.ts';
import { addName } from './commands/name/index.ts';
import { addProvision, addSignup } from './commands/node-set-up.ts';
import { addNote } from './commands/note.ts';
import { addOffer } from './commands/offer.ts';
import { addPay } from './commands/pay.ts';
import { addPayments } from './commands/payments.ts';
import { addProof } from './commands/proof/index.ts';
import { addSandbox } from './commands/sandbox/index.ts';
import { addSecretsKey } from './commands/secrets-key.ts';
import { addSeed } from './commands/seed.ts';
import { addServers, type Serve } from './commands/serve.ts';
import { addSettle } from './commands/settle.ts';
import { addShow } from './commands/show.ts';
import { addSync } from './commands/sync.ts';
import { addTrigger } from './commands/trigger.ts';
import { addUpdates } from './commands/updates.ts';
import { addWait } from './commands/wait.ts';
import { addWebhooks } from './commands/webhooks/index.ts';
import { addWithdraw } from './commands/withdraw.ts';
import { timesInUtc } from './connection.ts';
import { withExamples } from './examples.ts';
import { failure } from './failure.ts';
import type { AddCommand, CliIo } from './io.ts';
import { HELP_STYLE, HELP_WIDTH } from './terminal/help.ts';
import { usageSentence, wrongCommandWords } from './usage.ts';

/** What the command line is built with. `src/app` passes in what depends on the server and on nodes. */
export interface ProgramOptions extends CliIo {
  readonly version: string;
  readonly serve: Serve;
  readonly migrate: Migrate;
  readonly connectKinds: Readonly<Record<string, ConnectKind>>;
}

/** Every command except the servers, under the headings of the help. */
const COMMANDS: Readonly<Record<string, readonly AddCommand[]>> = {
  'Wallet:': [addConsole, addInfo, addPayments, addShow, addWait, addEvents, addUpdates],
  'Bookkeeping:': [addSync, addNote, addExport],
  'Receive:': [
    addInvoice,
    addOffer,
    addAddress,
    addName,
    addCancel,
    addSettle,
    addWithdraw,
    addBuy,
  ],
  'Send:': [addAnalyze, addPay, addKeysend, addBump, addProof, addChannels],
  'Set up:': [
    addSeed,
    addSecretsKey,
    addSignup,
    addProvision,
    addHealth,
    addClients,
    addWebhooks,
    addListen,
    addTrigger,
    addCompletions,
  ],
};

/** The commands that run a server. */
const SERVERS: readonly string[] = ['serve', 'dev'];

/**
 * Builds the command line (docs/decisions.md 102). `words` are what it is built for: a server starts without the other
 * commands, whose making would take a part of its start.
 */
export function buildProgram(options: ProgramOptions, words: readonly string[] = []): Command {
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
  if (SERVERS.includes(words[0] ?? '')) return program;
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, options);
  }
  addConnect(program, options, options.connectKinds);
  addMigrate(program, options, options.migrate);
  program.commandsGroup('Sandbox:');
  addSandbox(program, options);
  return program;
}

/** Runs the program. Resolves to its exit code; 0 while a server keeps running. */
export async function runProgram(
  program: Command,
  argv: readonly string[],
  io: CliIo,
): Promise<number> {
  const words = argv.slice(2);
  try {
    timesInUtc(words);
    const wrong = wrongCommandWords(program, words);
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
