import { turn } from '../../lib/turn.ts';
import { OWNER_CALLER } from '../../model/clients/client.ts';
import { ApiError, refused } from '../../model/errors.ts';
import { type Payment, updatedIndexOf } from '../../model/payment.ts';
import { idOfIndex, type PaymentIndex, type UpdatedIndex } from '../../model/payment-index.ts';
import type { ServedWallet, Session, Viewer } from './session.ts';

/** The error 107 of a payment, and of one that the caller may not see. */
export function paymentNotFound(): ApiError {
  return new ApiError('notFound', 'Payment not found');
}

/** Whether the caller sees only what it made (docs/decisions.md 195). */
export function seesOnlyOwn({ client }: Pick<Session, 'client'>): boolean {
  return client()?.own ?? false;
}

/** Throws error 108 for a caller that sees only what it made: what is asked for is of the whole wallet. */
export function requireWholeSight(session: Pick<Session, 'client'>): void {
  if (!seesOnlyOwn(session)) return;
  throw new ApiError(
    'forbidden',
    "These credentials see only payments that they made, and this tells of the whole wallet: ask the wallet's owner.",
    { data: { own: true } },
  );
}

type Made = Pick<Payment, 'index' | 'direction' | 'offerId'>;

/** Returns those of the payments that the caller, or `maker`, made, or that arrived on its offers. */
export async function madeBy<Some extends Made>(
  { store, userPk, caller }: Viewer,
  payments: readonly Some[],
  maker = caller.id,
): Promise<Some[]> {
  const offerOf = ({ direction, offerId }: Made) => (direction === 'inbound' ? offerId : null);
  const keys = payments.flatMap((payment) => [payment.index, offerOf(payment) ?? payment.index]);
  const own = await store.makers.of(userPk, maker, [...new Set(keys)]);
  return payments.filter((payment) => own.has(payment.index) || own.has(offerOf(payment) ?? ''));
}

/** Whether the caller made the payment with that index. Of others it learns nothing, nor whether they are there. */
export async function isMadeBy(
  viewer: Viewer & Pick<Session, 'history'>,
  index: PaymentIndex,
): Promise<boolean> {
  const { store, userPk, caller } = viewer;
  if ((await store.makers.of(userPk, caller.id, [index])).size > 0) return true;
  // What arrives on an offer has an index that its maker did not make.
  if (!idOfIndex(index).startsWith('fr_')) return false;
  const payment = await viewer.history.payment(index);
  return payment !== null && (await madeBy(viewer, [payment])).length > 0;
}

/** How many updates are looked at before other requests are served. */
const LOOKED_AT = 100;

/**
 * Returns at most `limit` payments updated after `after` that the caller may see, oldest first; where the next page
 * begins, after all that was looked at; and whether nothing was left.
 */
export async function updatesSeen(
  session: Viewer & Pick<Session, 'history'>,
  after: UpdatedIndex | null,
  limit: number,
) {
  const { history } = session;
  let reached = after;
  if (!seesOnlyOwn(session)) {
    const payments = await history.updatedAfter(after, limit);
    const last = payments.at(-1);
    return {
      payments,
      reached: last ? updatedIndexOf(last) : after,
      isLast: payments.length < limit,
    };
  }
  const payments: Payment[] = [];
  for (; ; await turn()) {
    const page = await history.updatedAfter(reached, LOOKED_AT);
    const own = new Set(await madeBy(session, page));
    for (const payment of page) {
      if (payments.length === limit) return { payments, reached, isLast: false };
      reached = updatedIndexOf(payment);
      if (own.has(payment)) payments.push(payment);
    }
    if (page.length < LOOKED_AT) return { payments, reached, isLast: true };
  }
}

/** Keeps that the caller made a payment, before anybody is told of it. What nobody has made is the owner's. */
export async function keepMaker(
  { store, userPk, caller }: ServedWallet,
  index: PaymentIndex,
): Promise<void> {
  if (caller && caller.id !== OWNER_CALLER) await store.makers.keep(userPk, index, caller.id);
}

/**
 * Keeps who made an offer. Throws `refused` where the node had made the same offer before, and one of the two who asked
 * for it sees only what it made: what arrives could be of either.
 */
export async function keepOfferMaker(
  { store, userPk, caller, client }: ServedWallet,
  offerId: string,
  isNew: boolean,
): Promise<void> {
  const asks = caller?.id ?? OWNER_CALLER;
  const maker = await store.makers.keep(userPk, offerId, isNew ? asks : OWNER_CALLER);
  if (maker === asks) return;
  if (!client?.()?.own && !(await store.clients.find(maker))?.own) return;
  throw refused(
    'The node has made this very offer for somebody else: give another description, so that it is another offer.',
  );
}
