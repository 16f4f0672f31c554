import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { type ApiError, isApiError, refused } from '../../../model/errors.ts';
import { channelIdOf } from '../../channel-id.ts';
import type { ClosedChannel, NodeChannels } from '../../node.ts';
import { channelNotFound } from '../../refusals.ts';
import {
  CHANNEL_TIMEOUT_MS,
  notAgreed,
  requireNotForced,
} from '../../remote/orders/channel-refusals.ts';
import { requireFeeWithin } from '../../remote/orders/fee-limit.ts';
import { openChannels } from '../reads/channels.ts';
import { satPerVbyte } from '../reads/fee-rate.ts';
import type { LndRest } from '../reads/rest.ts';
import type { LndHandle } from '../reads/wallet.ts';
import { refusesToClose } from '../words/certainty.ts';
import { refusalText } from '../words/refusal.ts';
import { closeUpdateShape, type LndChannel } from '../words/wire.ts';
import { closingCostMsat, closingOf } from './channel-fees.ts';

/** The most virtual bytes of a cooperative close: one input with two signatures, two outputs of the largest kind. */
const CLOSE_VBYTES = 200n;

/** See `NodeChannels.closeFeeBoundMsat`. */
export async function closeFeeBoundMsat(
  owner: LndRest,
  channelId: string,
  options: { readonly forced: boolean },
): Promise<bigint> {
  requireNotForced('LND', options);
  const known = (await openChannelOf(owner, channelId)) ?? (await closingOf(owner, channelId));
  if (known === null) throw channelNotFound();
  return CLOSE_VBYTES * (await satPerVbyte(owner)) * MSAT_PER_SAT;
}

/**
 * Closes the channel and returns once both sides have agreed on the closing transaction, at once where they have agreed
 * before; a forced close returns once the commitment transaction is published. See `NodeChannels.closeChannel`.
 */
export async function closeChannel(
  { rest, owner }: Pick<LndHandle, 'rest' | 'owner'>,
  channelId: string,
  { forced, maxFeeMsat }: Parameters<NodeChannels['closeChannel']>[1],
): Promise<ClosedChannel> {
  const channel = await openChannelOf(owner, channelId);
  if (channel === null) {
    const closing = await closingOf(owner, channelId);
    if (closing === null) throw channelNotFound();
    const feeMsat = maxFeeMsat === null ? null : await closingCostMsat(owner, closing);
    return { feeMsat, isNew: false };
  }
  const terms = forced ? { force: 'true' } : await agreeableTerms(owner, maxFeeMsat);
  const path = `/v1/channels/${channel.channel_point.replace(':', '/')}?${new URLSearchParams(terms)}`;
  const stop = new AbortController();
  const updates = rest.stream('DELETE', path, undefined, closeUpdateShape, stop.signal, {
    certainty: refusesToClose,
    headWithinMs: CHANNEL_TIMEOUT_MS,
  });
  const failure = await updates
    .next()
    .then(
      ({ done }) => (done ? notAgreed() : null),
      (error: unknown) => error,
    )
    .finally(() => stop.abort());
  if (failure === null && maxFeeMsat === null) return { feeMsat: null, isNew: true };
  // The other side may have agreed although the answer was lost, or although LND refused a request that arrived twice.
  const closing = await closingOf(owner, channelId).catch(() => null);
  if (failure !== null && closing === null) throw isPeerAway(failure) ? peerAway(failure) : failure;
  return { feeMsat: closing && (await closingCostMsat(owner, closing)), isNew: true };
}

/** The terms of a cooperative close. Throws `refused` when it may cost more than is allowed. */
async function agreeableTerms(
  owner: LndRest,
  maxFeeMsat: bigint | null,
): Promise<Record<string, string>> {
  const rate = await satPerVbyte(owner);
  requireFeeWithin('close', CLOSE_VBYTES * rate * MSAT_PER_SAT, maxFeeMsat);
  // LND offers `sat_per_vbyte` first and may raise it up to `max_fee_per_vbyte`; both are needed to fix the rate.
  return { sat_per_vbyte: `${rate}`, max_fee_per_vbyte: `${rate}` };
}

async function openChannelOf(owner: LndRest, channelId: string): Promise<LndChannel | null> {
  const open = await openChannels(owner);
  return open.find(({ channel_point }) => channelIdOf(channel_point) === channelId) ?? null;
}

function isPeerAway(failure: unknown): boolean {
  return isApiError(failure, 'refused') && /while peer is offline/.test(refusalText(failure));
}

function peerAway(cause: unknown): ApiError {
  return refused(
    'The other side of this channel is not connected, so it cannot agree to close: try again when it is, or close with force, which needs no agreement and gives the coins back days later.',
    cause,
  );
}
