import { hex } from '@scure/base';
import type { Channel, ChannelPeer } from '../../model/channel.ts';
import { isApiError } from '../../model/errors.ts';
import { withReservedFee } from '../budget/reserved-fee.ts';
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
  const bound = () => channels.openFeeBoundMsat(valueMsat);
  return session.locks.run(`open_${userChannelId}`, () =>
    withReservedFee(session, names, 'opening', bound, ({ maxFeeMsat }) =>
      channels.openChannel({ valueMsat, userChannelId, peer, maxFeeMsat }),
    ),
  );
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
  const bound = () => channels.closeFeeBoundMsat(channelId, { forced });
  return session.locks.run(`close_${channelId}`, async () => {
    await withReservedFee(session, names, 'closing', bound, async ({ maxFeeMsat, isRepeat }) => {
      try {
        return await channels.closeChannel(channelId, { forced, maxFeeMsat });
      } catch (error) {
        if (!isRepeat || !isApiError(error, 'notFound')) throw error;
        return { isNew: false, feeMsat: null };
      }
    });
  });
}
