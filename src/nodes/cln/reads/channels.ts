import type { Channel } from '../../../model/channel.ts';
import { type ClnChannel, channelsShape } from '../words/wire.ts';
import type { ClnRpc } from './rpc.ts';

/** The states in which a channel holds the wallet's money, and will or may carry payments again. */
const OPENING: ReadonlySet<string> = new Set([
  'OPENINGD',
  'CHANNELD_AWAITING_LOCKIN',
  'DUALOPEND_AWAITING_LOCKIN',
]);
const READY: ReadonlySet<string> = new Set(['CHANNELD_NORMAL', 'CHANNELD_AWAITING_SPLICE']);

/** All channels of the node, those that are closing or closed too. */
export async function readChannels(rpc: ClnRpc): Promise<readonly ClnChannel[]> {
  return (await rpc.list('listpeerchannels', {}, channelsShape)).channels;
}

/** Whether the channel is open, or is being opened and has its funding transaction. */
export function isOpen(channel: ClnChannel): boolean {
  const { state, channel_id, funding_txid } = channel;
  const isFunded = channel_id !== undefined && funding_txid !== undefined;
  return isFunded && (READY.has(state) || OPENING.has(state));
}

/** The wallet's own part of a channel, without what is on its way out, in millisatoshis. */
export function ourPartMsat({ to_us_msat, htlcs }: ClnChannel): bigint {
  return htlcs
    .filter(({ direction }) => direction === 'out')
    .reduce((left, { amount_msat }) => left - amount_msat, to_us_msat);
}

/** Whether payments can pass the channel now. */
export function isUsable({ state, peer_connected }: ClnChannel): boolean {
  return READY.has(state) && peer_connected;
}

/** An open channel as a resource, under the user channel id that it was opened with. */
export function channelOf(channel: ClnChannel, userChannelId: string | null): Channel {
  const channelId = channel.channel_id ?? '';
  const usable = isUsable(channel);
  return {
    channelId,
    // A channel that was opened without the sidecar gets a user channel id from its channel id.
    userChannelId: userChannelId ?? channelId.slice(0, 32),
    fundingOutpoint: `${channel.funding_txid}:${channel.funding_outnum}`,
    isUsable: usable,
    channelValueMsat: channel.total_msat,
    ourBalanceMsat: ourPartMsat(channel),
    theirBalanceMsat: channel.total_msat - channel.to_us_msat,
    punishmentReserveMsat: channel.our_reserve_msat,
    outboundCapacityMsat: usable ? channel.spendable_msat : 0n,
    inboundCapacityMsat: usable ? channel.receivable_msat : 0n,
  };
}

/** What the channels together can send now, in millisatoshis. */
export function sendableMsatOf(channels: readonly ClnChannel[]): bigint {
  return channels.filter(isUsable).reduce((sum, { spendable_msat }) => sum + spendable_msat, 0n);
}

/** Reads what the channels together can send now, in millisatoshis. */
export async function maxSendableMsat(owner: ClnRpc): Promise<bigint> {
  return sendableMsatOf(await readChannels(owner));
}
