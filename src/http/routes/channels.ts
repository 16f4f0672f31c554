import { z } from 'zod';
import { positiveAmountInput } from '../../model/amount.ts';
import { channelJson, channelPeerInput, encodeChannel } from '../../model/channel.ts';
import { hexInput, optionalAddition } from '../../model/text.ts';
import { closeChannel, listChannels, openChannel } from '../../wallet/pay/channels.ts';
import { emptyJson, get, post } from '../route.ts';

const exampleChannel = {
  channel_id: 'eea5898784e283095fbb6d9fb6d421b232f822db70cf2d255d57d902cba9003e',
  user_channel_id: '2495c6c083392948eb193781b06886c6',
};

/** Routes for Lightning channels. */
export const channelRoutes = [
  get('/v2/node/list_channels', 'channels', {
    access: 'list_channels',
    ofWallet: true,
    specified: true,
    summary: 'List Lightning channels',
    response: () => ({
      channels: z.array(channelJson()).describe('The channels.'),
    }),
    errors: ['unsupported'],
    example: {
      response: {
        channels: [
          {
            ...exampleChannel,
            funding_txo: '3e00a9cb02d9575d252dcf70db22f832b221d4b69f6dbb5f0983e2848789a5ee_0',
            is_usable: true,
            channel_value: '100000',
            our_balance: '100000',
            their_balance: '0',
            punishment_reserve: '1000',
            outbound_capacity: '99000',
            inbound_capacity: '0',
          },
        ],
      },
    },
    handler: async ({ session }) => ({
      channels: (await listChannels(session)).map(encodeChannel),
    }),
  }),
  post('/v2/node/open_channel', 'channels', {
    access: 'open_channel',
    specified: true,
    summary: 'Open a Lightning channel from on-chain funds',
    body: () => ({
      value: positiveAmountInput().describe('The size of the channel in sats.'),
      user_channel_id: hexInput(16)
        .optional()
        .describe(
          'Your id for the channel; the same never opens a second one. Random when omitted.',
        ),
      peer: optionalAddition(
        channelPeerInput(),
        'The node to open it to, as `<pubkey>@<host>:<port>`, in place of `--channel-peer`.',
      ),
    }),
    response: () => channelJson().pick({ channel_id: true, user_channel_id: true }),
    movesMoney: true,
    errors: ['overBudget', 'unsupported'],
    example: { body: { value: '100000' }, response: exampleChannel },
    handler: async ({ session, names }, { body }) => {
      const request = {
        valueMsat: body.value,
        userChannelId: body.user_channel_id ?? null,
        peer: body.peer ?? null,
      };
      const { channelId, userChannelId } = await openChannel(session, request, names);
      return { channel_id: channelId, user_channel_id: userChannelId };
    },
  }),
  post('/v2/node/close_channel', 'channels', {
    access: 'close_channel',
    specified: true,
    summary: 'Close a Lightning channel',
    description:
      'Both sides agree on the closing transaction, so the peer must be online; with `force` it need not be. Closing it again does nothing, or is error 107 where the node has forgotten it.',
    body: () => ({
      channel_id: hexInput(32).describe('The channel to close.'),
      force: optionalAddition(
        z.boolean(),
        'Closes it without the peer: the money comes back late, often after two weeks, at higher fees.',
      ),
    }),
    response: emptyJson,
    movesMoney: true,
    errors: ['notFound', 'overBudget', 'unsupported'],
    example: { body: { channel_id: exampleChannel.channel_id }, response: {} },
    handler: async ({ session, names }, { body }) => {
      const { channel_id: channelId, force: forced = false } = body;
      await closeChannel(session, { channelId, forced }, names);
      return {};
    },
  }),
];
