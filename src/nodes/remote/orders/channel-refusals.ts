import type { ChannelPeer } from '../../../model/channel.ts';
import { ApiError, refused } from '../../../model/errors.ts';

/** How long a node may take to open or close a channel, for which its peer must agree. */
export const CHANNEL_TIMEOUT_MS = 120_000;

/** The error while the peer has not agreed to a close that it may still agree to. */
export function notAgreed(): ApiError {
  return new ApiError('timeout', 'The other side has not agreed to close yet: look again later.', {
    outcomeUnknown: true,
  });
}

/** What an order says while an earlier request for the same channel may still be under way. */
export const MAY_BE_OPENING = 'An earlier request may still be opening this channel';

/** The error while that cannot be found out. */
export function maybeOpening(): ApiError {
  return new ApiError('timeout', `${MAY_BE_OPENING}: try again later.`, { outcomeUnknown: true });
}

/** Throws `refused` for a forced close whose cost must be bounded; `title` is what people call the node. */
export function requireNotForced(title: string, { forced }: { readonly forced: boolean }): void {
  if (!forced) return;
  throw refused(
    `What a forced close costs is known only when ${title} has swept the coins, so a client with a budget cannot make one: close it without force, or ask the wallet owner.`,
  );
}

/** The peer of a new channel: the order's, else the configured one. Throws `refused` without either. */
export function channelPeerOf(
  named: ChannelPeer | null,
  configured: ChannelPeer | null,
): ChannelPeer {
  const peer = named ?? configured;
  if (peer !== null) return peer;
  throw refused(
    'No peer is configured for channels: name one in peer, or start the sidecar with --channel-peer.',
  );
}
