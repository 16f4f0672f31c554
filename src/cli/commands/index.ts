import type { Command } from 'commander';
import type { ConnectKind } from '../../model/connect.ts';
import { ADVANCED } from '../command.ts';
import type { AddCommand, CliIo } from '../io.ts';
import { addAnalyze } from './analyze.ts';
import { addBackup, addRestore, type CopyData } from './backup.ts';
import { addChannels } from './channels.ts';
import { addClients } from './clients/index.ts';
import { addCompletions } from './completions.ts';
import { addConnect } from './connect.ts';
import { addConsole } from './console.ts';
import { addEvents } from './events.ts';
import { addExport } from './export.ts';
import { addHealth } from './health.ts';
import { addLdk, type RecoverLdk } from './ldk/index.ts';
import { addListen } from './listen.ts';
import { addMcp } from './mcp.ts';
import { addMigrate, type Migrate } from './migrate.ts';
import { addName } from './name.ts';
import { addPay } from './pay.ts';
import { addProof } from './proof.ts';
import {
  addAddress,
  addBuy,
  addCancel,
  addInvoice,
  addOffer,
  addRate,
  addSettle,
  addWithdraw,
} from './receive.ts';
import { addSandbox } from './sandbox.ts';
import { addApprove, addBump, addKeysend, addReject } from './send.ts';
import { addProvision, addSecretsKey, addSeed, addSignup } from './set-up.ts';
import { addTrigger } from './trigger.ts';
import { addInfo, addNote, addPayments, addShow, addSync, addUpdates, addWait } from './wallet.ts';
import { addWebhooks } from './webhooks/index.ts';

/** What commands are built with. `src/main.ts` passes in what depends on the server and on nodes. */
interface CommandOptions extends CliIo {
  readonly backup: CopyData;
  readonly restore: CopyData;
  readonly migrate: Migrate;
  readonly recoverLdk: RecoverLdk;
  readonly connectKinds: Readonly<Record<string, ConnectKind>>;
}

/** Every command except the servers, under the headings of the help. */
const COMMANDS: Readonly<Record<string, readonly AddCommand[]>> = {
  'Wallet:': [addConsole, addInfo, addPayments, addShow, addWait, addEvents],
  'Bookkeeping:': [addSync, addNote, addExport],
  'Receive:': [
    addInvoice,
    addOffer,
    addAddress,
    addRate,
    addName,
    addCancel,
    addSettle,
    addWithdraw,
    addBuy,
  ],
  'Send:': [addAnalyze, addPay, addKeysend, addApprove, addReject, addBump, addProof, addChannels],
  'Set up:': [
    addSeed,
    addSignup,
    addHealth,
    addClients,
    addWebhooks,
    addMcp,
    addListen,
    addTrigger,
    addCompletions,
  ],
};

/** Adds every command except those that run a server. */
export function addCommands(program: Command, options: CommandOptions): void {
  for (const [heading, commands] of Object.entries(COMMANDS)) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, options);
  }
  addConnect(program, options, options.connectKinds);
  addBackup(options.backup)(program, options);
  addRestore(options.restore)(program, options);
  program.commandsGroup('Sandbox:');
  addSandbox(program, options);
  program.commandsGroup(ADVANCED);
  for (const add of [addUpdates, addProvision, addSecretsKey]) add(program, options);
  addMigrate(options.migrate)(program, options);
  addLdk(options.recoverLdk)(program, options);
}
