import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { printable } from '../../lib/printable.ts';
import {
  CHANNEL_PEER_FORM,
  type ChannelJson,
  channelJson,
  parseChannelPeer,
} from '../../model/channel.ts';
import { argument, flag, group } from '../command.ts';
import { readHex16, readHex32, readPositiveAmount } from '../inputs.ts';
import { oneCall } from '../one-call.ts';
import { wideFlag } from '../options.ts';
import type { Column } from '../terminal/table.ts';
import { grouped, sats } from '../terminal/words.ts';

const COLUMNS: readonly Column<ChannelJson>[] = [
  { title: 'Channel', of: ({ channel_id }) => channel_id, least: 11, cut: 'middle' },
  { title: 'Usable', of: ({ is_usable }) => (is_usable ? 'yes' : 'no') },
  { title: 'Size', of: ({ channel_value }) => grouped(channel_value), right: true, leaves: 2 },
  { title: 'Can send', of: ({ outbound_capacity }) => grouped(outbound_capacity), right: true },
  { title: 'Can receive', of: ({ inbound_capacity }) => grouped(inbound_capacity), right: true },
  {
    title: 'Funding',
    of: ({ funding_txo }) => funding_txo ?? '',
    least: 11,
    cut: 'middle',
    leaves: 1,
  },
];

const list = oneCall('list', {
  about: 'List Lightning channels.',
  words: { wide: wideFlag },
  examples: ['channels list'],
  call: (sidecar) => sidecar.listChannels(),
  answer: () => z.object({ channels: z.array(channelJson()) }),
  lines: ({ channels }, _, { table }) =>
    channels.length === 0 ? ['No channels.'] : table(COLUMNS, channels),
});

const open = oneCall('open', {
  about: 'Open a Lightning channel from on-chain funds.',
  words: {
    value: argument('<amount>', 'size of the channel in sats', readPositiveAmount),
    peer: flag(
      '--peer <node>',
      'node to open it to, as <pubkey>@<host>:<port> (default: the setting of the sidecar)',
      readPeer,
    ),
    user_channel_id: flag(
      '--id <hex>',
      'your id of the channel, 32 hex characters: it opens one channel',
      readHex16,
    ),
  },
  examples: ['channels open 100000', 'channels open 100000 --peer 02a1...@example.com:9735'],
  doing: 'Opening the channel',
  money: {
    question: ({ value, peer }) => [
      `Open a channel of ${sats(value)}${peer === undefined ? '' : ` to ${peer}`}. Its transaction costs a fee besides.`,
    ],
  },
  call: (sidecar, given, { key }) => sidecar.openChannel(given, { idempotencyKey: key }),
  answer: () => z.object({ channel_id: z.string(), user_channel_id: z.string() }),
  lines: ({ channel_id }) => [
    `Channel  ${printable(channel_id)}`,
    'It can be used when its transaction has confirmed: "wallet-sidecar channels list" shows it.',
  ],
});

const UNILATERAL = 'the money comes back after a delay, often two weeks, and the fees are higher';

const close = oneCall('close', {
  about: 'Close a Lightning channel together with its peer, which must be online.',
  words: {
    channel_id: argument(
      '<channel>',
      'id of the channel, as "channels list --wide" shows it',
      readHex32,
    ),
    force: flag('--force', `close it without the peer: ${UNILATERAL}`),
  },
  examples: ['channels close 9f9f...', 'channels close 9f9f... --force'],
  doing: 'Closing the channel',
  money: {
    question: ({ force }) => [
      force
        ? `Close the channel without its peer: ${UNILATERAL}.`
        : 'Close the channel. Its transaction costs a fee.',
    ],
  },
  call: (sidecar, given, { key }) => sidecar.closeChannel(given, { idempotencyKey: key }),
  lines: () => ['Closing: the money is on chain when the transaction has confirmed.'],
});

/** Adds `channels`, the commands for Lightning channels. */
export const addChannels = group(
  'channels',
  { about: 'Lightning channels.', examples: ['channels list', 'channels open 100000'] },
  [list, open, close],
);

function readPeer(text: string): string {
  if (parseChannelPeer(text) !== null) return text;
  throw new InvalidArgumentError(`It ${CHANNEL_PEER_FORM}`);
}
