import { type Budget, type Channel, toMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { zonedMoment } from '../values/moment.ts';
import { percentOf, satsOf } from '../values/sats.ts';

/** A bar of which a share is filled. What it means must stand beside it in words. */
function ShareBar({ percent }: { readonly percent: number }) {
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect width="100" height="6" class="back" />
      <rect width={percent} height="6" class="in" />
    </svg>
  );
}

/** How much of a budget is spent, as a bar and in words. */
export function BudgetBar({ budget }: { readonly budget: Budget }) {
  const { spent, amount, resets_at, max_payment } = budget;
  const words = [
    text.clients.spent(satsOf(spent), satsOf(amount)),
    resets_at === null ? text.clients.neverResets : text.clients.resets(zonedMoment(resets_at)),
    ...(max_payment === null ? [] : [text.clients.mostPayment(satsOf(max_payment))]),
  ];
  return (
    <div class="budget">
      <ShareBar percent={percentOf(toMsat(spent), toMsat(amount))} />
      <p>{words.join(' · ')}</p>
    </div>
  );
}

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
