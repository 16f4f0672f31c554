import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { CHANNEL_PEER_FORM, parseChannelPeer } from '../../../model/channel.ts';
import { readHex16, readPositiveAmount } from '../../inputs.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { printable } from '../../terminal/printable.ts';
import { sats } from '../../terminal/words.ts';

const openedJson = z.object({ channel_id: z.string(), user_channel_id: z.string() });

interface OpenFlags {
  readonly peer?: string;
  readonly id?: string;
}

/** Adds `channels open`, which opens a channel from on-chain funds. */
export function addChannelsOpen(channels: Command, io: CliIo): void {
  const command = channels
    .command('open')
    .description('Open a Lightning channel from on-chain funds.')
    .argument('<amount>', 'size of the channel in sats', readPositiveAmount)
    .option(
      '--peer <node>',
      'node to open it to, as <pubkey>@<host>:<port> (default: the setting of the sidecar)',
      readPeer,
    )
    .option(
      '--id <hex>',
      'your id of the channel, 32 hex characters: it opens one channel',
      readHex16,
    );
  oneCall<typeof openedJson, [string], OpenFlags>(io, command, {
    examples: ['channels open 100000', 'channels open 100000 --peer 02a1...@example.com:9735'],
    doing: 'Opening the channel',
    money: {
      question: ({ args: [value], flags: { peer } }) => [
        `Open a channel of ${sats(value)}${peer === undefined ? '' : ` to ${peer}`}. Its transaction costs a fee besides.`,
      ],
    },
    call: (sidecar, { args: [value], flags: { peer, id } }, { key }) =>
      sidecar.openChannel({ value, peer, user_channel_id: id }, { idempotencyKey: key }),
    answer: openedJson,
    lines: ({ channel_id }) => [
      `Channel  ${printable(channel_id)}`,
      'It can be used when its transaction has confirmed: "wallet-sidecar channels list" shows it.',
    ],
  });
}

function readPeer(text: string): string {
  if (parseChannelPeer(text) !== null) return text;
  throw new InvalidArgumentError(`It ${CHANNEL_PEER_FORM}`);
}
