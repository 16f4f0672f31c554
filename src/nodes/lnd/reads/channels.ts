import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { Channel } from '../../../model/channel.ts';
import { channelIdOf } from '../../channel-id.ts';
import {
  channelsShape,
  type LndChannel,
  type LndPendingChannel,
  pendingChannelsShape,
} from '../words/wire.ts';
import type { LndRest } from './rest.ts';
import type { LndOwned } from './wallet.ts';

/** Prefix of the memo of channels that were opened through the sidecar; the user channel id follows it. */
const MEMO = 'ws:';
/** The weight that two HTLCs add to a commitment transaction (BOLT 3): LND keeps room for two more. */
const TWO_HTLCS_WEIGHT = 344n;

/** Returns the memo of a channel that was opened for a user channel id. */
export function openedAs(userChannelId: string): string {
  return `${MEMO}${userChannelId}`;
}

/** Returns LND's open channels. */
export async function openChannels(rest: LndRest): Promise<readonly LndChannel[]> {
  return (await rest.list('/v1/channels', channelsShape)).channels;
}

/** Returns LND's open channels, and those whose funding is not confirmed yet. */
export async function readChannels(
  rest: LndRest,
): Promise<{ open: readonly LndChannel[]; pending: readonly LndPendingChannel[] }> {
  const [open, { pending_open_channels }] = await Promise.all([
    openChannels(rest),
    rest.list('/v1/channels/pending', pendingChannelsShape),
  ]);
  return { open, pending: pending_open_channels.map(({ channel }) => channel) };
}

/** Returns the channels as resources; those not confirmed yet come last. */
export async function listChannels(rest: LndRest): Promise<Channel[]> {
  const { open, pending } = await readChannels(rest);
  return [...open.map(openChannelOf), ...pending.map(pendingChannelOf)];
}

/** Returns the most that all channels together can send now, in millisatoshis. */
export async function maxSendableMsat(rest: LndRest): Promise<bigint> {
  const channels = await openChannels(rest);
  return channels.reduce((sum, channel) => sum + sendableSat(channel), 0n) * MSAT_PER_SAT;
}

/**
 * Returns what our side of a channel can send now, in satoshis. The opener pays the commitment's fee, and LND keeps in
 * reserve twice the fee of a commitment with two more HTLCs.
 */
export function sendableSat(channel: LndChannel): bigint {
  if (!channel.active) return 0n;
  const { local_balance, local_constraints, initiator, commit_fee, fee_per_kw } = channel;
  const aboveReserve = local_balance - local_constraints.chan_reserve_sat;
  if (!initiator || fee_per_kw === 0n) return atLeastZero(aboveReserve);
  const weight = (commit_fee * 1000n) / fee_per_kw;
  const buffer = (2n * fee_per_kw * (weight + TWO_HTLCS_WEIGHT)) / 1000n;
  return atLeastZero(aboveReserve + commit_fee - buffer);
}

function openChannelOf(channel: LndChannel): Channel {
  const reserve = channel.local_constraints.chan_reserve_sat;
  const theirReserve = channel.remote_constraints.chan_reserve_sat;
  return {
    ...identityOf(channel),
    isUsable: channel.active,
    channelValueMsat: channel.capacity * MSAT_PER_SAT,
    ourBalanceMsat: channel.local_balance * MSAT_PER_SAT,
    theirBalanceMsat: channel.remote_balance * MSAT_PER_SAT,
    punishmentReserveMsat: reserve * MSAT_PER_SAT,
    outboundCapacityMsat: sendableSat(channel) * MSAT_PER_SAT,
    inboundCapacityMsat: channel.active
      ? atLeastZero(channel.remote_balance - theirReserve) * MSAT_PER_SAT
      : 0n,
    heldBackMsat: heldBackSat(channel) * MSAT_PER_SAT,
  };
}

/** The fee and the anchors of the commitment, which LND takes out of the opener's balance. */
function heldBackSat(channel: LndChannel): bigint {
  const { initiator, capacity, local_balance, remote_balance, unsettled_balance } = channel;
  return initiator
    ? atLeastZero(capacity - local_balance - remote_balance - unsettled_balance)
    : 0n;
}

function pendingChannelOf(channel: LndPendingChannel): Channel {
  return {
    ...identityOf(channel),
    isUsable: false,
    channelValueMsat: channel.capacity * MSAT_PER_SAT,
    ourBalanceMsat: channel.local_balance * MSAT_PER_SAT,
    theirBalanceMsat: channel.remote_balance * MSAT_PER_SAT,
    punishmentReserveMsat: channel.local_chan_reserve_sat * MSAT_PER_SAT,
    outboundCapacityMsat: 0n,
    inboundCapacityMsat: 0n,
  };
}

function identityOf({ channel_point, memo }: { channel_point: string; memo: string }) {
  const channelId = channelIdOf(channel_point);
  const userChannelId = new RegExp(`^${MEMO}([0-9a-f]{32})$`).exec(memo)?.[1];
  return {
    channelId,
    // A channel that was opened without the sidecar gets a user channel id from its channel id.
    userChannelId: userChannelId ?? channelId.slice(0, 32),
    fundingOutpoint: channel_point,
  };
}

function atLeastZero(value: bigint): bigint {
  return value > 0n ? value : 0n;
}

/**
 * Whether the wallet had a public channel that is active, at most a minute ago: payers find it by that without route
 * hints. False where LND does not tell: needless hints do no harm.
 */
export function hasPublicChannel({ owner, wallet }: LndOwned): Promise<boolean> {
  return wallet.publicChannel.get(() => readFrom(owner).catch(() => false));
}

async function readFrom(owner: LndRest): Promise<boolean> {
  const path = '/v1/channels?active_only=true&public_only=true';
  return (await owner.list(path, channelsShape)).channels.length > 0;
}
