import type { Command } from 'commander';
import type { ConnectKind } from '../../model/connect.ts';
import { ADVANCED } from '../command.ts';
import type { CliIo } from '../io.ts';
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
  readonly connectKinds: () => Promise<Readonly<Record<string, ConnectKind>>>;
}

/** Adds a command; what it needs may be loaded first. */
type Adding = (program: Command, options: CommandOptions) => void | Promise<void>;

/** Every command except the servers, by its name, under the headings of the help. */
const COMMANDS: Readonly<Record<string, Readonly<Record<string, Adding>>>> = {
  'Wallet:': {
    console: addConsole,
    info: addInfo,
    payments: addPayments,
    show: addShow,
    wait: addWait,
    events: addEvents,
  },
  'Bookkeeping:': { sync: addSync, note: addNote, export: addExport },
  'Receive:': {
    invoice: addInvoice,
    offer: addOffer,
    address: addAddress,
    rate: addRate,
    name: addName,
    cancel: addCancel,
    settle: addSettle,
    withdraw: addWithdraw,
    buy: addBuy,
  },
  'Send:': {
    analyze: addAnalyze,
    pay: addPay,
    keysend: addKeysend,
    approve: addApprove,
    reject: addReject,
    bump: addBump,
    proof: addProof,
    channels: addChannels,
  },
  'Set up:': {
    seed: addSeed,
    signup: addSignup,
    health: addHealth,
    clients: addClients,
    webhooks: addWebhooks,
    mcp: addMcp,
    listen: addListen,
    trigger: addTrigger,
    completions: addCompletions,
    connect: async (program, options) => addConnect(program, options, await options.connectKinds()),
    backup: (program, options) => addBackup(options.backup)(program, options),
    restore: (program, options) => addRestore(options.restore)(program, options),
  },
  'Sandbox:': { sandbox: addSandbox },
  [ADVANCED]: {
    updates: addUpdates,
    provision: addProvision,
    'secrets-key': addSecretsKey,
    migrate: (program, options) => addMigrate(options.migrate)(program, options),
    ldk: (program, options) => addLdk(options.recoverLdk)(program, options),
  },
};

/** Commands that show others. */
const SHOWS_ALL: readonly (string | undefined)[] = ['completions'];

/**
 * Adds the command that the first of the words names: making all of them takes longer than most of them do. Adds every
 * command but the servers where it names none, as for the help, and where that command shows the others.
 */
export async function addCommands(
  program: Command,
  [named]: readonly string[],
  options: CommandOptions,
): Promise<void> {
  const all = Object.entries(COMMANDS).flatMap(([heading, commands]) =>
    Object.entries(commands).map(([name, add]) => ({ heading, name, add })),
  );
  const one = SHOWS_ALL.includes(named) ? [] : all.filter(({ name }) => name === named);
  for (const { heading, add } of one.length > 0 ? one : all) {
    program.commandsGroup(heading);
    await add(program, options);
  }
}
