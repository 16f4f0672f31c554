import { z } from 'zod';
import { positiveAmountInput } from '../../model/amount.ts';
import { channelJson, encodeChannel } from '../../model/channel.ts';
import { hexInput, hexOutput } from '../../model/text.ts';
import { closeChannel, listChannels, openChannel } from '../../wallet/channels.ts';
import { route } from '../route.ts';
import { emptyJson } from './node.ts';

const exampleChannel = {
  channel_id: 'd6'.repeat(32),
  user_channel_id: 'e7'.repeat(16),
};

/** Lightning channels. */
export const channelRoutes = [
  route({
    method: 'get',
    path: '/v2/node/list_channels',
    group: 'channels',
    access: 'list_channels',
    summary: 'List Lightning channels',
    response: z.object({ channels: z.array(channelJson) }),
    errors: ['unsupported', 'unreachable', 'unreadable'],
    example: {
      response: {
        channels: [
          {
            ...exampleChannel,
            funding_txo: `${'f8'.repeat(32)}_0`,
            is_usable: true,
            channel_value: '1000000',
            our_balance: '400000',
            their_balance: '600000',
            punishment_reserve: '10000',
            outbound_capacity: '390000',
            inbound_capacity: '590000',
          },
        ],
      },
    },
    handler: async ({ session }) => ({
      channels: (await listChannels(session)).map(encodeChannel),
    }),
  }),
  route({
    method: 'post',
    path: '/v2/node/open_channel',
    group: 'channels',
    access: 'open_channel',
    summary: 'Open a Lightning channel from on-chain funds',
    body: z.object({
      value: positiveAmountInput.meta({ description: 'Sats the channel shall hold.' }),
      user_channel_id: hexInput(16)
        .optional()
        .meta({ description: 'Idempotency key of the channel; random when omitted.' }),
    }),
    response: z.object({ channel_id: hexOutput(32), user_channel_id: hexOutput(16) }),
    errors: ['refused', 'overBudget', 'unsupported', 'unreachable', 'unreadable'],
    example: { body: { value: '100000' }, response: exampleChannel },
    handler: async ({ session, names }, { body }) => {
      const request = { valueMsat: body.value, userChannelId: body.user_channel_id ?? null };
      const { channelId, userChannelId } = await openChannel(session, request, names);
      return { channel_id: channelId, user_channel_id: userChannelId };
    },
  }),
  route({
    method: 'post',
    path: '/v2/node/close_channel',
    group: 'channels',
    access: 'close_channel',
    summary: 'Close a Lightning channel cooperatively',
    body: z.object({ channel_id: hexInput(32) }),
    response: emptyJson,
    errors: ['notFound', 'refused', 'overBudget', 'unsupported', 'unreachable', 'unreadable'],
    example: { body: { channel_id: exampleChannel.channel_id }, response: {} },
    handler: async ({ session, names }, { body }) => {
      await closeChannel(session, body.channel_id, names);
      return {};
    },
  }),
];
