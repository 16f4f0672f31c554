import type { Command } from 'commander';
import { z } from 'zod';
import { readHex32 } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';

/** Adds `channels close`, which closes a channel. */
export function addChannelsClose(channels: Command, io: CliIo): void {
  const command = channels
    .command('close')
    .description('Close a Lightning channel together with its peer, which must be online.')
    .argument('<channel>', 'id of the channel, as "channels list --wide" shows it', readHex32)
    .option(
      '--force',
      'close it without the peer: the money comes back after a delay, often two weeks, and the fees are higher',
    );
  oneCall<z.ZodType, [string], { readonly force?: boolean }>(io, command, {
    examples: ['channels close 9f9f...', 'channels close 9f9f... --force'],
    doing: 'Closing the channel',
    money: {
      question: ({ flags: { force } }) =>
        force
          ? [
              'Close the channel without its peer: the money comes back after a delay, often two weeks, and the fees are higher.',
            ]
          : ['Close the channel. Its transaction costs a fee.'],
    },
    call: (sidecar, { args: [channel_id], flags: { force } }, { key }) =>
      sidecar.closeChannel({ channel_id, force }, { idempotencyKey: key }),
    answer: z.object({}),
    lines: () => ['Closing: the money is on chain when the transaction has confirmed.'],
  });
}
