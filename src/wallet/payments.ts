import { ApiError } from '../model/errors.ts';
import { encodePayment, isFinal, type Payment } from '../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';
import type { CacheQuery } from '../store/ports.ts';
import type { Session } from './session.ts';
import { paymentNotFound, waitForFinal } from './wait.ts';

/** The response JSON of one payment as the node has it. Throws `notFound`. */
export async function paymentJsonOf(session: Session, index: PaymentIndex): Promise<string> {
  const cached = await session.store.cache.get(session.userPk, index);
  // What is final does not change, so the cache tells it for the node.
  if (cached?.final) return cached.json;
  return JSON.stringify(encodePayment(await paymentOf(session, index)));
}

/** One payment as the node has it; null when there is none. */
export function findPayment(session: Session, index: PaymentIndex): Promise<Payment | null> {
  return session.history.payment(index);
}

/** {@link findPayment}, throwing `notFound`. */
export async function paymentOf(session: Session, index: PaymentIndex): Promise<Payment> {
  const payment = await findPayment(session, index);
  if (payment === null) throw paymentNotFound();
  return payment;
}

/** Response JSON of cached payments, and where the next page begins (contract, list_payments). */
export function cachedPayments(
  session: Session,
  query: CacheQuery,
): Promise<{ json: string[]; nextIndex: PaymentIndex | null }> {
  return session.store.cache.list(session.userPk, query);
}

/** Empties the cache; the node's data is untouched (contract, clear_payments). */
export function clearCache(session: Session): Promise<void> {
  return session.store.cache.clear(session.userPk);
}

/** Waits until the payment is final, and takes it into the cache (decisions section 11). */
export async function waitAndCache(
  session: Session,
  index: PaymentIndex,
  signal: AbortSignal,
): Promise<Payment> {
  const payment = await waitForFinal(session, index, signal);
  await session.store.cache.apply(session.userPk, [payment], null);
  return payment;
}

/** Payments in the order of their updates, after one of them (decisions section 4). */
export function updatedPayments(
  session: Session,
  after: UpdatedIndex | null,
  limit: number,
): Promise<Payment[]> {
  return session.history.updatedAfter(after, limit);
}

/** The newest update of the wallet; null before there is any. */
export function newestUpdate(session: Session): Promise<UpdatedIndex | null> {
  return session.history.tip();
}

/**
 * Cancels a pending inbound invoice, which then can no longer be paid; one that has failed stays so (decisions section
 * 4). Error 106 for every other payment.
 */
export async function cancelPayment(session: Session, index: PaymentIndex): Promise<void> {
  const payment = await paymentOf(session, index);
  if (payment.status === 'failed') return;
  if (isFinal(payment) || payment.direction !== 'inbound') {
    throw new ApiError(
      'refused',
      'Only a pending inbound invoice can be canceled; this payment is completed or on its way.',
    );
  }
  await session.node.cancelInvoice(index);
}
