import { z } from 'zod';
import { amountOutput, formatAmountMsat } from './amount.ts';
import { hexOutput } from './text.ts';

/** The Channel resource (decisions section 4). */
export const channelJson = z
  .object({
    channel_id: hexOutput(32),
    user_channel_id: hexOutput(16),
    funding_txo: z
      .string()
      .regex(/^[0-9a-f]{64}_\d+$/)
      .nullable()
      .meta({ description: '<txid>_<vout>, null until the funding transaction is known.' }),
    is_usable: z.boolean(),
    channel_value: amountOutput,
    our_balance: amountOutput,
    their_balance: amountOutput,
    punishment_reserve: amountOutput,
    outbound_capacity: amountOutput,
    inbound_capacity: amountOutput,
  })
  .meta({ id: 'Channel', description: 'A Lightning channel of the wallet node.' });
export type ChannelJson = z.infer<typeof channelJson>;

/** {@link channelJson} inside this program, amounts in millisatoshis. */
export interface Channel {
  readonly channelId: string;
  readonly userChannelId: string;
  /** `<txid>:<vout>`; null until known. */
  readonly fundingOutpoint: string | null;
  readonly isUsable: boolean;
  readonly channelValueMsat: bigint;
  readonly ourBalanceMsat: bigint;
  readonly theirBalanceMsat: bigint;
  /** What our side must keep in the channel. */
  readonly punishmentReserveMsat: bigint;
  readonly outboundCapacityMsat: bigint;
  readonly inboundCapacityMsat: bigint;
}

/** Writes a channel as answers carry it. */
export function encodeChannel(channel: Channel): ChannelJson {
  return {
    channel_id: channel.channelId,
    user_channel_id: channel.userChannelId,
    // As the contract's clients read it, unlike the outpoints of transactions.
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
