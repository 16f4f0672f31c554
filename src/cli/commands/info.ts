import type { Command } from 'commander';
import { nodeInfoJson } from '../../model/node-info.ts';
import type { CliIo } from '../io.ts';
import { oneCall } from '../one-call.ts';
import { fields } from '../terminal/table.ts';
import { sats } from '../terminal/words.ts';

/** Adds `info`, which shows the node and its balances. */
export function addInfo(parent: Command, io: CliIo): void {
  const command = parent.command('info').description('Show the wallet node and its balances.');
  oneCall(io, command, {
    examples: ['info', 'info --json'],
    call: (sidecar) => sidecar.nodeInfo(),
    answer: nodeInfoJson(),
    lines: (info) =>
      fields({
        Balance: sats(info.balance),
        'On Lightning': sats(info.lightning_balance),
        '  sendable, about': sats(info.lightning_sendable_balance),
        '  sendable, at most': sats(info.lightning_max_sendable_balance),
        'On chain': sats(info.onchain_balance),
        '  trusted': sats(info.onchain_trusted_balance),
        'Usable channels': `${info.num_usable_channels} of ${info.num_channels}`,
        'Node software': info.version,
        'Node key': info.node_pk,
        'Wallet key': info.user_pk,
      }),
  });
}
