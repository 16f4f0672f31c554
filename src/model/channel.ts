import { z } from 'zod';
import { once } from '../lib/once.ts';
import { amountOutput, formatAmountMsat } from './amount.ts';
import { hexOutput } from './text.ts';

/** A node to which channels are opened. */
export interface ChannelPeer {
  /** Hex node key. */
  readonly pubkey: string;
  /** `host:port`. */
  readonly host: string;
}

const PEER = /^(0[23][0-9a-fA-F]{64})@([^@\s]{1,253}:\d{1,5})$/;
/** The form of a peer in requests and in the configuration. */
export const CHANNEL_PEER_FORM = 'must be <pubkey>@<host>:<port>';

/** Reads `<pubkey>@<host>:<port>`, the key in capitals or not; null for any other text. */
export function parseChannelPeer(text: string): ChannelPeer | null {
  const [, pubkey, host] = PEER.exec(text) ?? [];
  return pubkey === undefined || host === undefined ? null : { pubkey: pubkey.toLowerCase(), host };
}

/** A peer in a request. */
export const channelPeerInput = once(() =>
  z
    .string()
    .regex(PEER, CHANNEL_PEER_FORM)
    .transform((text) => parseChannelPeer(text)),
);

/** A channel in an answer (docs/api.md, Channel). */
export const channelJson = once(() =>
  z
    .object({
      channel_id: hexOutput(32).describe('Identifies the channel.'),
      user_channel_id: hexOutput(16).describe(
        'The id that it was opened with; random where none was given.',
      ),
      funding_txo: z
        .string()
        .regex(/^[0-9a-f]{64}_\d+$/)
        .nullable()
        .describe('The output that funds it, as `<txid>_<vout>`; null until known.'),
      is_usable: z
        .boolean()
        .describe('Whether payments can pass now: the channel is ready and its peer is online.'),
      channel_value: amountOutput().describe('What the channel holds in all, in sats.'),
      our_balance: amountOutput().describe("This wallet's part, in sats."),
      their_balance: amountOutput().describe("The peer's part, in sats."),
      punishment_reserve: amountOutput().describe(
        'What this wallet must leave in the channel, in sats.',
      ),
      outbound_capacity: amountOutput().describe('What can be sent through it, in sats.'),
      inbound_capacity: amountOutput().describe('What can be received through it, in sats.'),
    })
    .meta({ id: 'Channel', description: 'A Lightning channel of the wallet node.' }),
);
export type ChannelJson = z.infer<ReturnType<typeof channelJson>>;

/** A channel inside this program; amounts in millisatoshis. */
export interface Channel {
  readonly channelId: string;
  readonly userChannelId: string;
  /** `<txid>:<vout>`; null until known. */
  readonly fundingOutpoint: string | null;
  readonly isUsable: boolean;
  readonly channelValueMsat: bigint;
  readonly ourBalanceMsat: bigint;
  readonly theirBalanceMsat: bigint;
  /** The amount that this wallet must keep in the channel. */
  readonly punishmentReserveMsat: bigint;
  readonly outboundCapacityMsat: bigint;
  readonly inboundCapacityMsat: bigint;
  /**
   * What this wallet, as the opener, keeps in it for the transaction that closes it, where the node counts that to no
   * balance. Absent: nothing.
   */
  readonly heldBackMsat?: bigint;
}

/** Writes a channel in the form of answers. */
export function encodeChannel(channel: Channel): ChannelJson {
  return {
    channel_id: channel.channelId,
    user_channel_id: channel.userChannelId,
    // Clients read `_` here, although outpoints of transactions are written with `:` (docs/decisions.md 31).
    funding_txo: channel.fundingOutpoint?.replace(':', '_') ?? null,
    is_usable: channel.isUsable,
    channel_value: formatAmountMsat(channel.channelValueMsat),
    our_balance: formatAmountMsat(channel.ourBalanceMsat),
    their_balance: formatAmountMsat(channel.theirBalanceMsat),
    punishment_reserve: formatAmountMsat(channel.punishmentReserveMsat),
    outbound_capacity: formatAmountMsat(channel.outboundCapacityMsat),
    inbound_capacity: formatAmountMsat(channel.inboundCapacityMsat),
  };
}
