import { hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import type { ClosedChannel, NodeChannels } from '../../node-groups.ts';
import { channelNotFound } from '../../refusals.ts';
import {
  CHANNEL_TIMEOUT_MS,
  notAgreed,
  requireNotForced,
} from '../../remote/orders/channel-refusals.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { feeSatOf, outlineOf, paidSatOf } from '../../remote/orders/psbt.ts';
import { readChannels } from '../reads/channels.ts';
import { channelSatPerKw } from '../reads/fee-rate.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnHandle, ClnOwned } from '../reads/wallet.ts';
import { refusesToClose } from '../words/certainty.ts';
import { closedShape } from '../words/chain-wire.ts';
import type { ClnChannel } from '../words/wire.ts';

/** The most weight of a cooperative close: one input with two signatures, two outputs of the largest kind. */
const CLOSE_WEIGHT = 800n;
/** Core Lightning waits so many seconds for the peer before it closes a channel alone. */
const FORCED_AFTER_SECS = 1;
/** Waits for the peer for ever. */
const NEVER_FORCED = 0;

/** The states in which the closing transaction is agreed on or published. */
const CLOSED: ReadonlySet<string> = new Set([
  'CLOSINGD_COMPLETE',
  'AWAITING_UNILATERAL',
  'FUNDING_SPEND_SEEN',
  'ONCHAIN',
]);

/** See `NodeChannels.closeFeeBoundMsat`. */
export async function closeFeeBoundMsat(
  { owner, wallet }: ClnOwned,
  channelId: string,
  options: { readonly forced: boolean },
): Promise<bigint> {
  requireNotForced('Core Lightning', options);
  await requireChannel(owner, channelId);
  return boundMsatAt(await channelSatPerKw({ owner, wallet }));
}

/**
 * Closes the channel and returns once both sides have agreed on the closing transaction, at once where they have agreed
 * before; a forced close returns once a closing transaction is published. See `NodeChannels.closeChannel`.
 */
export async function closeChannel(
  { rpc, owner, wallet }: ClnHandle,
  channelId: string,
  { forced, maxFeeMsat }: Parameters<NodeChannels['closeChannel']>[1],
): Promise<ClosedChannel> {
  const channel = await requireChannel(owner, channelId);
  if (CLOSED.has(channel.state)) return { feeMsat: null, isNew: false };
  const terms = forced
    ? { unilateraltimeout: FORCED_AFTER_SECS }
    : await agreeableTerms({ owner, wallet }, channel, maxFeeMsat);
  try {
    const { txs } = await rpc.write('close', { id: channelId, ...terms }, closedShape, {
      timeoutMs: CHANNEL_TIMEOUT_MS,
      certainty: refusesToClose,
    });
    return { feeMsat: closingCostMsat(channel, txs), isNew: true };
  } catch (error) {
    if (!(error instanceof ApiError) || !error.outcomeUnknown) throw error;
    // The other side may have agreed although no answer came.
    const now = await findChannel(owner, channelId).catch(() => channel);
    if (now === null || CLOSED.has(now.state)) return { feeMsat: null, isNew: true };
    throw error.kind === 'timeout' ? notAgreed() : error;
  }
}

/**
 * The terms of a cooperative close. Throws `refused` when it may cost more than is allowed, and when the peer is not
 * there: the node would close the channel whenever the peer comes back.
 */
async function agreeableTerms(
  { owner, wallet }: ClnOwned,
  { peer_connected }: ClnChannel,
  maxFeeMsat: bigint | null,
): Promise<Record<string, unknown>> {
  if (!peer_connected) {
    throw refused(
      'The peer of the channel is not connected, so it cannot agree to close: try again later, or force the close.',
    );
  }
  const satPerKw = await channelSatPerKw({ owner, wallet });
  requireFeeWithin('close', boundMsatAt(satPerKw), maxFeeMsat);
  return { unilateraltimeout: NEVER_FORCED, feerange: ['minimum', `${satPerKw}perkw`] };
}

function boundMsatAt(satPerKw: bigint): bigint {
  return feeSatOf(CLOSE_WEIGHT, satPerKw) * MSAT_PER_SAT;
}

/**
 * What closing a channel cost this node, in millisatoshis: its value less the outputs of the closing transaction, which
 * includes dust of the other side. The side that opened the channel pays.
 */
function closingCostMsat(
  { opener, total_msat }: ClnChannel,
  [closing]: readonly string[],
): bigint | null {
  if (opener === 'remote') return 0n;
  if (closing === undefined) return null;
  return total_msat - paidSatOf(outlineOf(hex.decode(closing))) * MSAT_PER_SAT;
}

async function requireChannel(owner: ClnRpc, channelId: string): Promise<ClnChannel> {
  const channel = await findChannel(owner, channelId);
  if (channel === null) throw channelNotFound();
  return channel;
}

async function findChannel(owner: ClnRpc, channelId: string): Promise<ClnChannel | null> {
  const channels = await readChannels(owner);
  return channels.find(({ channel_id }) => channel_id === channelId) ?? null;
}
