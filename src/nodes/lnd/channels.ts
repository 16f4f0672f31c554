import { hex } from '@scure/base';
import { MSAT_PER_SAT, wholeSats } from '../../model/amount.ts';
import type { Channel } from '../../model/channel.ts';
import { ApiError, refused } from '../../model/errors.ts';
import type { OpenChannelCommand } from '../node.ts';
import { refusalText } from './refusal.ts';
import type { LndRest } from './rest.ts';
import {
  anyShape,
  channelsShape,
  closeUpdateShape,
  type LndChannel,
  type LndPendingChannel,
  openedChannelShape,
  pendingChannelsShape,
} from './wire.ts';

/** Marks channels opened through the sidecar, with the user channel id behind. */
const MEMO = 'ws:';
/** Weight that an HTLC adds to a commitment transaction (BOLT 3), twice: LND keeps room for two more. */
const TWO_HTLCS_WEIGHT = 344n;
const OPEN_TIMEOUT_MS = 120_000;

/** A peer to open channels to: `<pubkey>@<host>:<port>`. */
export interface ChannelPeer {
  /** Hex. */
  readonly pubkey: string;
  readonly host: string;
}

/** LND's open channels and those whose opening is not confirmed. */
export async function readChannels(
  rest: LndRest,
): Promise<{ open: readonly LndChannel[]; pending: readonly LndPendingChannel[] }> {
  const [{ channels }, { pending_open_channels }] = await Promise.all([
    rest.get('/v1/channels', channelsShape),
    rest.get('/v1/channels/pending', pendingChannelsShape),
  ]);
  return { open: channels, pending: pending_open_channels.map(({ channel }) => channel) };
}

/** Channels as answers show them; those not confirmed yet come last. */
export async function listChannels(rest: LndRest): Promise<Channel[]> {
  const { open, pending } = await readChannels(rest);
  return [...open.map(openChannelOf), ...pending.map(pendingChannelOf)];
}

/** What all channels together can send now. */
export async function maxSendableMsat(rest: LndRest): Promise<bigint> {
  const { channels } = await rest.get('/v1/channels', channelsShape);
  return channels.reduce((sum, channel) => sum + sendableSat(channel), 0n) * MSAT_PER_SAT;
}

/**
 * What our side can send now, satoshis. The opener pays the commitment's fee, and LND keeps twice that of a
 * commitment with two more HTLCs in reserve.
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

/**
 * Opens a channel to `peer`, once for a user channel id, which LND keeps as the channel's memo. The caller must hold
 * a lock.
 */
export async function openChannel(
  rest: LndRest,
  peer: ChannelPeer | null,
  { valueMsat, userChannelId }: OpenChannelCommand,
): Promise<{ channelId: string; userChannelId: string }> {
  const { open, pending } = await readChannels(rest);
  const known = [...open, ...pending].find(({ memo }) => memo === `${MEMO}${userChannelId}`);
  if (known) return { channelId: channelIdOf(known.channel_point), userChannelId };
  if (peer === null) {
    throw refused('No peer to open channels to: start the sidecar with --channel-peer.');
  }
  await connectPeer(rest, peer);
  const { funding_txid_bytes, output_index } = await rest.post(
    '/v1/channels',
    {
      node_pubkey: Buffer.from(peer.pubkey, 'hex').toString('base64'),
      local_funding_amount: `${wholeSats(valueMsat)}`,
      memo: `${MEMO}${userChannelId}`,
    },
    openedChannelShape,
    { timeoutMs: OPEN_TIMEOUT_MS },
  );
  const txid = hex.encode(hex.decode(funding_txid_bytes).reverse());
  return { channelId: channelIdOf(`${txid}:${output_index}`), userChannelId };
}

/** Closes cooperatively and answers when both sides have agreed on the closing transaction. */
export async function closeChannel(rest: LndRest, channelId: string): Promise<void> {
  const { open } = await readChannels(rest);
  const channel = open.find(({ channel_point }) => channelIdOf(channel_point) === channelId);
  if (!channel) throw new ApiError('notFound', 'Channel not found');
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(OPEN_TIMEOUT_MS)]);
  const path = `/v1/channels/${channel.channel_point.replace(':', '/')}`;
  try {
    for await (const _ of rest.stream('DELETE', path, undefined, closeUpdateShape, signal)) return;
  } finally {
    stop.abort();
  }
  throw new ApiError('timeout', 'The other side has not agreed to close yet: look again later.');
}

async function connectPeer(rest: LndRest, { pubkey, host }: ChannelPeer): Promise<void> {
  try {
    await rest.post('/v1/peers', { addr: { pubkey, host }, timeout: '10' }, anyShape);
  } catch (error) {
    if (!refusalText(error).includes('already connected')) throw error;
  }
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
  };
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
    // A channel that was opened without the sidecar is named after its own id.
    userChannelId: userChannelId ?? channelId.slice(0, 32),
    fundingTxo: channel_point,
  };
}

/** BOLT 2: the funding txid in wire byte order, its last two bytes altered by the output's number. */
function channelIdOf(channelPoint: string): string {
  const [txid = '', vout = '0'] = channelPoint.split(':');
  const id = hex.decode(txid).reverse();
  const at = id.length - 2;
  const view = new DataView(id.buffer, id.byteOffset);
  view.setUint16(at, view.getUint16(at) ^ Number(vout));
  return hex.encode(id);
}

function atLeastZero(value: bigint): bigint {
  return value > 0n ? value : 0n;
}
