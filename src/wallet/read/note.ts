import type { PaymentIndex } from '../../model/payment-index.ts';
import { paymentNotFound } from '../session/own-payments.ts';
import type { Reader, Session } from '../session/session.ts';

/**
 * Sets or clears (null) a payment's personal note: at the node if it keeps notes, else in the journal, and in the cache
 * if the payment is cached. Throws `notFound` (error 107).
 */
export async function setPersonalNote(
  session: Reader & Pick<Session, 'feed'>,
  index: PaymentIndex,
  note: string | null,
): Promise<void> {
  const { node, store, userPk } = session;
  if ((await session.history.payment(index)) === null) throw paymentNotFound();
  const updated = node.notes
    ? await node.notes.setPersonalNote(index, note)
    : await store.journal.setPersonalNote(userPk, index, note, node.clock.now());
  if (updated === null) throw paymentNotFound();
  await store.cache.refresh(userPk, updated);
  if (!node.notes) session.feed.emit(updated);
}
