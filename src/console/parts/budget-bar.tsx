import { type Budget, toMsat } from '../../client/index.ts';
import { text } from '../texts/index.ts';
import { zonedMoment } from '../values/moment.ts';
import { satsOf } from '../values/sats.ts';
import { percentOf } from '../values/share.ts';
import { ShareBar } from './share-bar.tsx';

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
