import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { printable } from '../../lib/printable.ts';
import {
  CHANNEL_PEER_FORM,
  type ChannelJson,
  channelJson,
  parseChannelPeer,
} from '../../model/channel.ts';
import { hexInput } from '../../model/text.ts';
import { argument, type Finding, flag, group } from '../command.ts';
import { readHex16, readName } from '../inputs.ts';
import { namesId, theOne } from '../naming.ts';
import { oneCall } from '../one-call.ts';
import { wideFlag } from '../options.ts';
import type { Column } from '../terminal/table.ts';
import { grouped, sats } from '../terminal/words.ts';

/** Two anchors of 330 sats and the smallest output take about this much of every channel (BOLT 3). */
const LEAST_CHANNEL_SATS = 1000;

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

const channelsJson = () => z.object({ channels: z.array(channelJson()) });

const list = oneCall('list', {
  about: 'List Lightning channels.',
  words: { wide: wideFlag },
  examples: ['channels list'],
  call: (sidecar) => sidecar.listChannels(),
  answer: channelsJson,
  lines: ({ channels }, _, { table }) =>
    channels.length === 0 ? ['No channels.'] : table(COLUMNS, channels),
});

const open = oneCall('open', {
  about: 'Open a Lightning channel from on-chain funds.',
  words: {
    value: argument('<amount>', 'size of the channel in sats', readChannelSize),
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
    channel_id: {
      ...argument(
        '<channel>',
        'the channel: its id, or at least 4 of the first or last characters of that, of its --id or of its funding transaction',
        readName,
      ),
      find: findChannel,
    },
    force: flag('--force', `close it without the peer: ${UNILATERAL}`),
  },
  examples: ['channels close 9f9f', 'channels close 9f9f --force'],
  doing: 'Closing the channel',
  money: {
    question: ({ channel_id: id, force }) => [
      force
        ? `Close the channel ${id} without its peer: ${UNILATERAL}.`
        : `Close the channel ${id}. Its transaction costs a fee.`,
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

/** Returns the id of a channel that a person named. A whole id needs no look. */
async function findChannel(typed: string, { io, ask }: Finding): Promise<string> {
  const whole = hexInput(32).safeParse(typed);
  if (whole.success) return whole.data;
  const { value } = await ask((sidecar) => sidecar.listChannels(), channelsJson());
  const fitting = value.channels.filter(({ channel_id, user_channel_id, funding_txo }) =>
    [channel_id, user_channel_id, funding_txo?.split('_')[0]].some((id) => namesId(typed, id)),
  );
  const { channel_id } = theOne(io, fitting, {
    columns: COLUMNS,
    none: `No channel has the id ${JSON.stringify(typed)}: "wallet-sidecar channels list" shows them.`,
    typed,
  });
  return channel_id;
}

/** Returns the size of a channel: what no node opens is told at once. */
function readChannelSize(text: string): string {
  if (/^\d{1,16}$/.test(text) && Number(text) >= LEAST_CHANNEL_SATS) return text;
  throw new InvalidArgumentError(
    `It must be whole satoshis, at least ${LEAST_CHANNEL_SATS}; most nodes open none below 20000`,
  );
}

function readPeer(text: string): string {
  if (parseChannelPeer(text) !== null) return text;
  throw new InvalidArgumentError(`It ${CHANNEL_PEER_FORM}`);
}
