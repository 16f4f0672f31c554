import { ApiError } from '../../model/errors.ts';
import { encodePayment, isFinal, type Payment } from '../../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';
import type { CacheQuery } from '../../store/ports.ts';
import { descendantsOf } from '../clients/client-policy.ts';
import { paymentNotFound, seesOnlyOwn } from '../session/own-payments.ts';
import {
  allows,
  type Grants,
  type Reader,
  type Session,
  type Viewer,
  type Waiter,
  type WalletRows,
  type WithHistory,
} from '../session/session.ts';
import { waitForFinal } from './wait.ts';

/** Returns the JSON of one payment, as answers carry it, in its newest state. Throws `notFound` (error 107). */
export async function paymentJsonOf(session: Reader, index: PaymentIndex): Promise<string> {
  const cached = await session.store.cache.get(session.userPk, index);
  // A final payment does not change, so the cached JSON is up to date.
  if (cached?.final) return cached.json;
  return JSON.stringify(encodePayment(await paymentOf(session, index)));
}

/** Returns one payment in its newest state. Throws `notFound` (error 107) when there is none. */
export async function paymentOf({ history }: WithHistory, index: PaymentIndex): Promise<Payment> {
  const payment = await history.payment(index);
  if (payment === null) throw paymentNotFound();
  return payment;
}

/**
 * Returns a page of the cache as the JSON of answers, and the index after which the next page begins; null at the end
 * (docs/decisions.md 88, 193). It has none that the caller may not see, and with `client` those alone that this client
 * made.
 */
export async function cachedPayments(
  viewer: Asker,
  query: CacheQuery,
  client: string | null = null,
): Promise<{ json: string[]; nextIndex: PaymentIndex | null }> {
  const { store, userPk, caller } = viewer;
  const maker = client ?? (seesOnlyOwn(viewer) ? caller.id : null);
  if (maker === null) return store.cache.list(userPk, query);
  if (!(await mayAskOf(viewer, maker))) return { json: [], nextIndex: null };
  return store.cache.list(userPk, { ...query, maker });
}

type Asker = Viewer & Grants & Pick<Session, 'isOwner'>;

/**
 * Whether the caller may ask what a client made: itself always, and those that it is told of or has made, unless it
 * sees only its own (docs/decisions.md 202).
 */
async function mayAskOf(session: Asker, clientPk: string): Promise<boolean> {
  const { store, userPk, caller } = session;
  if (clientPk === caller.id) return true;
  if (seesOnlyOwn(session)) return false;
  if (session.isOwner || allows(session, 'list_clients')) return true;
  const below = descendantsOf(await store.clients.list(userPk), caller.id);
  return below.some((one) => one.clientPk === clientPk);
}

/**
 * Empties the cache. The node keeps everything. It waits for a sync that is under way, and for a wait that stores its
 * update, whose cursor would otherwise pass what was cleared.
 */
export function clearCache(session: WalletRows & Pick<Session, 'locks'>): Promise<void> {
  const { locks, store, userPk } = session;
  return locks.run('sync', () => locks.run('clear', () => store.cache.clear(userPk)));
}

/** Waits until the payment is final, and stores it in the cache (docs/decisions.md 88). */
export async function waitAndCache(
  session: Waiter & WalletRows,
  index: PaymentIndex,
  signal: AbortSignal,
): Promise<Payment> {
  const payment = await waitForFinal(session, index, signal);
  await session.store.cache.apply(session.userPk, [payment], null);
  return payment;
}

/** Returns the newest update of the wallet; null when there is none. */
export function newestUpdate({ history }: WithHistory): Promise<UpdatedIndex | null> {
  return history.tip();
}

/**
 * Cancels a pending inbound invoice, which can then no longer be paid (docs/decisions.md 28). A failed payment stays as
 * it is. For every other payment it throws `refused` (error 106), and `notFound` (error 107) when there is none.
 */
export async function cancelPayment(session: Reader, index: PaymentIndex): Promise<void> {
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
