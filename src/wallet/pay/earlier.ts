import { formatAmountMsat } from '../../model/amount.ts';
import { ApiError, ownInvoice, refused } from '../../model/errors.ts';
import { isFinal, type Payment, type SendWords } from '../../model/payment.ts';
import { requireMaySee } from '../session/paid-by-another.ts';
import type { Onlooker, OnNode, Payer, WalletRows } from '../session/session.ts';
import { isSamePrice } from '../strings/offer-price.ts';
import { refundRule } from './refund.ts';
import type { SendTerms } from './send-plan.ts';

/** What was there before a payment is begun. */
export interface Earlier {
  /** The newest payment with the same id; null when there is none. */
  readonly previous: Payment | null;
  /** Whether another payment may begin. */
  readonly begins: boolean;
  /** See {@link NewSpend.afterAttempt}. */
  readonly afterAttempt: number | null;
  /** Whether another program makes that payment, so that its failure does not end this request. */
  readonly isOutside: boolean;
  /** See {@link refundRule}. */
  readonly requireLeft: Awaited<ReturnType<typeof refundRule>>;
}

/**
 * Looks at what was there before, and whether another payment may begin. Throws error 106 for what stands in its way
 * (docs/decisions.md 46).
 */
export async function earlierOf(session: Payer, plan: SendTerms): Promise<Earlier> {
  await session.resolver.ready();
  const newest = plan.rail === 'onchain' ? null : session.node.newestAttempt(plan.id);
  // An earlier payment is returned without it, also while the node is away.
  newest?.catch(() => undefined);
  const latest = await session.history.latest(plan.id);
  const isOutside = latest !== null && (await isMadeOutside(session, latest));
  if (latest) await requireMayMeet(session, latest, isOutside);
  if (!latest || latest.status === 'failed') plan.requirePayable?.();
  else await requireSameTerms(session, { ...plan, refundOf: null, ...plan.details }, latest);
  const begins = latest === null || mayFollow(plan, latest);
  const requireLeft = begins ? await refundRule(session, plan) : null;
  const afterAttempt = begins ? await newest : null;
  return { previous: latest, begins, afterAttempt, isOutside, requireLeft };
}

/** Whether another program of the node makes the payment: a pending one of this program has a spend. */
async function isMadeOutside(
  { node, store, userPk }: OnNode & WalletRows,
  payment: Payment,
): Promise<boolean> {
  if (node.history || isFinal(payment)) return false;
  return (await store.spends.get(userPk, payment.index)) === null;
}

/** Whether another payment may follow that one of the same id. */
function mayFollow({ again }: SendTerms, { status }: Payment): boolean {
  return status === 'failed' && again === 'after-failure';
}

/** What two payments of one id must have in common. */
type SameTerms = Pick<Payment, 'amountMsat' | 'rail' | 'refundOf'> & Pick<SendWords, 'price'>;

/**
 * Throws error 106 where a refund is asked for and this was paid before, and not as that (docs/decisions.md 194), or
 * when an invoice without an amount was paid before with another amount or price (docs/decisions.md 46). It names that
 * amount only to a caller who may see the payment (docs/decisions.md 175).
 */
export async function requireSameTerms(
  session: Onlooker,
  { amountMsat, rail, refundOf, price }: SameTerms,
  previous: Payment,
): Promise<void> {
  if (refundOf !== null && refundOf !== previous.refundOf) {
    await requireMaySee(session, previous);
    throw refused(
      'This was paid already, or is being paid, and not as a refund of the payment to be refunded: ask for a new invoice.',
    );
  }
  if (rail === 'onchain' || previous.amountMsat === null) return;
  // A repeat with a price comes when the rate may be another.
  if (previous.amountMsat === amountMsat || isSamePrice(price, previous.price)) return;
  await requireMaySee(session, previous);
  throw new ApiError(
    'refused',
    `This invoice was paid with ${formatAmountMsat(previous.amountMsat)} sats already, or is being paid: it cannot be paid again with another amount.`,
  );
}

/**
 * Throws error 106 when the earlier payment with the same id goes into this wallet, or when it did not fail and the
 * caller may not see it (docs/decisions.md 46). What another program is still making is not its answer yet.
 */
async function requireMayMeet(
  session: Onlooker,
  previous: Payment,
  isOutside: boolean,
): Promise<void> {
  if (previous.direction !== 'outbound') throw ownInvoice();
  if (previous.status !== 'failed' && !isOutside) await requireMaySee(session, previous);
}
