import type { ChannelPeer } from '../../../model/channel.ts';
import { refused } from '../../../model/errors.ts';

/**
 * The peer of a new channel: the one that the order names, else the configured one. Throws `refused` without either.
 */
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
