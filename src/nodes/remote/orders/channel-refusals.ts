import { wholeSats } from '../../../model/amount.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import type { OpenChannelCommand } from '../../node-groups.ts';

/**
 * Throws `refused` when a user channel id that names a channel, or one that was asked for, is given for another one
 * (docs/decisions.md 31). Without a peer any peer is meant.
 */
export function requireSameChannel(
  earlier: { readonly valueSat: bigint; readonly peer: string },
  { valueMsat, peer }: Pick<OpenChannelCommand, 'valueMsat' | 'peer'>,
): void {
  if (earlier.valueSat !== wholeSats(valueMsat)) throw isTaken('of another value');
  if (peer !== null && peer.pubkey !== earlier.peer) throw isTaken('to another peer');
}

function isTaken(which: string): ApiError {
  return refused(
    `A channel ${which} has this user_channel_id: choose another id for another channel.`,
  );
}

/** The error while the peer has not agreed to a close that it may still agree to. */
export function notAgreed(): ApiError {
  return new ApiError('timeout', 'The other side has not agreed to close yet: look again later.', {
    outcomeUnknown: true,
  });
}

/** The error for a channel that the node does not know. */
export function channelNotFound(): ApiError {
  return new ApiError('notFound', 'Channel not found');
}
