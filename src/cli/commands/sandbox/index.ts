import type { Command } from 'commander';
import { withExamples } from '../../examples.ts';
import type { CliIo } from '../../io.ts';
import { addSandboxFund, addSandboxPay, addSandboxWallet } from './money.ts';
import { addSandboxInvoice, addSandboxLnurl, addSandboxOffer } from './outside.ts';
import { addSandboxBlock, addSandboxClock, addSandboxHold, addSandboxReplace } from './world.ts';

/** Adds `sandbox`, the controls of the sandbox node. The sidecar has them only while that node is in use. */
export function addSandbox(parent: Command, io: CliIo): void {
  const sandbox = parent
    .command('sandbox')
    .description('Control the sandbox node: its worthless coins, its chain and its outside world.');
  withExamples(sandbox, 'sandbox fund 50000', 'sandbox pay lnbcrt10u1p...', 'sandbox block 6');
  addSandboxWallet(sandbox, io);
  addSandboxFund(sandbox, io);
  addSandboxPay(sandbox, io);
  addSandboxInvoice(sandbox, io);
  addSandboxOffer(sandbox, io);
  addSandboxLnurl(sandbox, io);
  addSandboxHold(sandbox, io);
  addSandboxBlock(sandbox, io);
  addSandboxReplace(sandbox, io);
  addSandboxClock(sandbox, io);
}
