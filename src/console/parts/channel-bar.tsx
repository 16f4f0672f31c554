import { type Channel, toMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { satsOf } from '../values/sats.ts';
import { percentOf } from '../values/share.ts';
import { ShareBar } from './share-bar.tsx';

/** How the money of a channel is shared, as a bar and in words. */
export function ChannelBar({ channel }: { readonly channel: Channel }) {
  const { our_balance, their_balance, channel_value, is_usable } = channel;
  return (
    <>
      <ShareBar percent={percentOf(toMsat(our_balance), toMsat(channel_value))} />
      <span class="dim">
        {text.overview.channelOurs(satsOf(our_balance), satsOf(their_balance))}
        {is_usable ? '' : ` · ${text.overview.channelNotUsable}`}
      </span>
    </>
  );
}
