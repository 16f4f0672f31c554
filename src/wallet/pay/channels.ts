import { hex } from '@scure/base';
import type { Channel, ChannelPeer } from '../../model/channel.ts';
import { isApiError } from '../../model/errors.ts';
import { reserveFee } from '../budget/reserved-fee.ts';
import type { EffectNames } from '../session/effect-names.ts';
import { nodeGroup, type OnNode, type Spender } from '../session/session.ts';

/** Returns the Lightning channels of the wallet's node. */
export function listChannels(session: OnNode): Promise<Channel[]> {
  return nodeGroup(session, 'channels').listChannels();
}

/**
 * Opens a channel, once for its `user_channel_id` (docs/decisions.md 31). Its on-chain fee counts in a client's budget
 * and is bounded before anything is signed (docs/decisions.md 68). Errors carry `data.sent`.
 */
export function openChannel(
  session: Spender,
  request: {
    readonly valueMsat: bigint;
    readonly userChannelId: string | null;
    /** Null: the configured peer, or the node's own choice. */
    readonly peer: ChannelPeer | null;
  },
  names: EffectNames,
): Promise<{ channelId: string; userChannelId: string }> {
  const channels = nodeGroup(session, 'channels');
  const userChannelId = request.userChannelId ?? hex.encode(names.bytes('channel').slice(0, 16));
  const { valueMsat, peer } = request;
  return session.locks.run(`open_${userChannelId}`, async () => {
    const fee = await reserveFee(session, names, 'opening', () =>
      channels.openFeeBoundMsat(valueMsat),
    );
    const opened = await fee.spend((maxFeeMsat) =>
      channels.openChannel({ valueMsat, userChannelId, peer, maxFeeMsat }),
    );
    await fee.conclude(opened);
    return opened;
  });
}

/**
 * Closes a channel, or forces it closed. Its fee counts in a client's budget, and no fee that has no bound is spent by
 * a client that has one. When a repeat of the request finds no such channel, the earlier run has closed it, and the
 * estimated fee counts as the cost. Errors carry `data.sent`.
 */
export function closeChannel(
  session: Spender,
  { channelId, forced }: { readonly channelId: string; readonly forced: boolean },
  names: EffectNames,
): Promise<void> {
  const channels = nodeGroup(session, 'channels');
  return session.locks.run(`close_${channelId}`, async () => {
    const fee = await reserveFee(session, names, 'closing', () =>
      channels.closeFeeBoundMsat(channelId, { forced }),
    );
    try {
      const closed = await fee.spend((maxFeeMsat) =>
        channels.closeChannel(channelId, { forced, maxFeeMsat }),
      );
      await fee.conclude(closed);
    } catch (error) {
      if (!fee.isRepeat || !isApiError(error, 'notFound')) throw error;
      await fee.conclude({ isNew: false, feeMsat: null });
    }
  });
}
