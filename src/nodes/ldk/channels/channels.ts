import { MSAT_PER_SAT, wholeSats } from '../../../model/amount.ts';
import type { Channel } from '../../../model/channel.ts';
import { isApiError } from '../../../model/errors.ts';
import type { ClosedChannel, NodeChannels, OpenChannelCommand, OpenedChannel } from '../../node.ts';
import { channelNotFound, requireSameChannel } from '../../refusals.ts';
import { channelPeerOf, requireNotForced } from '../../remote/orders/channel-refusals.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { CHANNEL_BLOCKS } from '../../remote/orders/onchain-send.ts';
import { feeRate, openFeeMsat } from '../onchain/onchain.ts';
import type { Helper } from '../process/helper.ts';
import type { LdkWallet } from '../process/wallet.ts';
import { type LdkChannel, shapes } from '../words/words.ts';

/** The most virtual bytes of a transaction that closes a channel together with the peer: two outputs. */
const CLOSING_VBYTES = 200n;
/** What LDK gives beyond the usual fee, in satoshis, rather than close by force. */
const AVOIDS_FORCE_SAT = 1000n;

/** All channels, as the node tells of them. */
export function readChannels(helper: Helper): Promise<LdkChannel[]> {
  return helper.call('channels', {}, shapes().channels);
}

/** The most that all channels together can send now, in millisatoshis. */
export async function sendableMsat(helper: Helper): Promise<bigint> {
  return sumOf(await readChannels(helper), ({ out_msat }) => out_msat);
}

/** The most that all channels together can receive now, in millisatoshis. */
export async function receivableMsat(helper: Helper): Promise<bigint> {
  return sumOf(await readChannels(helper), ({ in_msat }) => in_msat);
}

function sumOf(channels: readonly LdkChannel[], part: (channel: LdkChannel) => bigint): bigint {
  return channels.reduce((sum, one) => sum + (one.usable ? part(one) : 0n), 0n);
}

/** All channels, also those whose funding is not confirmed yet. */
export async function listChannels({ helper }: LdkWallet): Promise<Channel[]> {
  return (await readChannels(helper)).map((one) => ({
    channelId: one.id,
    userChannelId: one.user_id,
    fundingOutpoint: one.funding,
    isUsable: one.usable,
    channelValueMsat: one.value_msat,
    ourBalanceMsat: one.ours_msat,
    theirBalanceMsat: one.theirs_msat,
    punishmentReserveMsat: one.reserve_msat,
    outboundCapacityMsat: one.usable ? one.out_msat : 0n,
    inboundCapacityMsat: one.usable ? one.in_msat : 0n,
  }));
}

/** Opens one channel for a user channel id; see `NodeChannels.openChannel`. The caller must hold a lock. */
export async function openChannel(
  wallet: LdkWallet,
  command: OpenChannelCommand,
): Promise<OpenedChannel> {
  const { helper } = wallet;
  const { userChannelId, valueMsat, maxFeeMsat } = command;
  const known = (await readChannels(helper)).find(({ user_id }) => user_id === userChannelId);
  if (known) {
    requireSameChannel({ valueSat: wholeSats(known.value_msat), peer: known.peer }, command);
    return { channelId: known.id, userChannelId, feeMsat: null, isNew: false };
  }
  const { pubkey, host } = channelPeerOf(command.peer, wallet.channelPeer);
  const feeMsat = await openFeeMsat(wallet, valueMsat);
  requireFeeWithin('open', feeMsat, maxFeeMsat);
  const channel = await helper.call(
    'open_channel',
    { user_id: userChannelId, peer: { pk: pubkey, address: host }, value_msat: valueMsat },
    shapes().channel,
  );
  requireSameChannel({ valueSat: wholeSats(channel.value_msat), peer: channel.peer }, command);
  return { channelId: channel.id, userChannelId, feeMsat, isNew: channel.first };
}

/** The most that closing a channel would cost now, in millisatoshis; see `NodeChannels.closeFeeBoundMsat`. */
export async function closeFeeBoundMsat(
  { helper }: LdkWallet,
  channelId: string,
  options: { readonly forced: boolean },
): Promise<bigint> {
  requireNotForced('the LDK node', options);
  const channel = (await readChannels(helper)).find(({ id }) => id === channelId);
  if (channel === undefined) throw channelNotFound();
  const satPerVbyte = BigInt(await feeRate(helper, CHANNEL_BLOCKS));
  return (satPerVbyte * CLOSING_VBYTES + AVOIDS_FORCE_SAT) * MSAT_PER_SAT;
}

/** Closes a channel; see `NodeChannels.closeChannel`. */
export async function closeChannel(
  wallet: LdkWallet,
  channelId: string,
  { forced, maxFeeMsat }: Parameters<NodeChannels['closeChannel']>[1],
): Promise<ClosedChannel> {
  const boundMsat = maxFeeMsat && (await closeFeeBoundMsat(wallet, channelId, { forced }));
  if (boundMsat !== null) requireFeeWithin('close', boundMsat, maxFeeMsat);
  try {
    await wallet.helper.call('close_channel', { id: channelId, forced }, shapes().done);
  } catch (error) {
    if (isApiError(error, 'notFound')) throw channelNotFound();
    throw error;
  }
  return { feeMsat: boundMsat, isNew: true };
}
