import type { Payment } from '../../../model/payment.ts';
import type { PaymentIndex } from '../../../model/payment-index.ts';
import type { Observation } from '../../node-observations.ts';
import type { ClnWallet } from '../reads/wallet.ts';
import { PAID_OTHERWISE } from '../words/certainty.ts';
import { hasOnlyFailed, outboundObservation, type SendAttempt } from '../words/translate.ts';
import { isPaid } from './sends.ts';

type Seeing = Pick<ClnWallet, 'clock' | 'endings' | 'labels'>;

/**
 * The payments that these attempts are, as the feed tells them, in the order in which they began. `attempts` are all
 * that are known of their hashes. Those of one index are one payment; see {@link together}.
 */
export function sendsSeen(attempts: readonly SendAttempt[], seeing: Seeing): Observation[] {
  const paid = new Set(attempts.filter(isPaid).map(({ hash }) => hash));
  const seen = new Map<PaymentIndex, Observation>();
  for (const attempt of attempts) {
    const one = attemptSeen(attempt, { isHashPaid: paid.has(attempt.hash) }, seeing);
    const { index } = one.payment;
    seen.set(index, together(seen.get(index), one));
  }
  return [...seen.values()];
}

/** One attempt. `isHashPaid`: whether some attempt has paid its hash, so that nothing can follow what has failed. */
export function attemptSeen(
  attempt: SendAttempt,
  { isHashPaid }: { readonly isHashPaid: boolean },
  { clock, endings, labels }: Seeing,
): Observation {
  const told = endings.failureOf(attempt);
  const failure = told ?? (isHashPaid && hasOnlyFailed(attempt) ? PAID_OTHERWISE : null);
  return outboundObservation(attempt, { nowMs: clock.now(), failure, labels });
}

/** What says more of a payment, where its attempts differ. */
const WEIGHT: Readonly<Record<Payment['status'], number>> = { failed: 0, pending: 1, completed: 2 };

/**
 * Two attempts that are one payment, since its request was sent twice, or since both began in one second and the node
 * tells no more of when (docs/decisions.md 155). It is completed or pending as soon as one of them is, and failed only
 * when both are.
 */
export function together(earlier: Observation | undefined, later: Observation): Observation {
  if (earlier === undefined) return later;
  const isLess = WEIGHT[later.payment.status] < WEIGHT[earlier.payment.status];
  return isLess ? earlier : later;
}
