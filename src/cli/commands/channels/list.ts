import type { Command } from 'commander';
import { z } from 'zod';
import { type ChannelJson, channelJson } from '../../../model/channel.ts';
import type { CliIo } from '../../io.ts';
import { oneCall } from '../../one-call.ts';
import { withTable } from '../../terminal/show.ts';
import type { Column } from '../../terminal/table.ts';
import { grouped } from '../../terminal/words.ts';

const channelsJson = z.object({ channels: z.array(channelJson()) });

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

/** Adds `channels list`, which shows the wallet's channels. */
export function addChannelsList(channels: Command, io: CliIo): void {
  const command = withTable(channels.command('list').description('List Lightning channels.'));
  oneCall(io, command, {
    examples: ['channels list'],
    call: (sidecar) => sidecar.listChannels(),
    answer: channelsJson,
    lines: ({ channels: rows }, _, { table }) =>
      rows.length === 0 ? ['No channels.'] : table(COLUMNS, rows),
  });
}
