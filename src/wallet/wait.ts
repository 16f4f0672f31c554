import { ApiError } from '../model/errors.ts';
import { isFinal, type Payment, updatedIndexOf } from '../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';
import type { Session } from './session.ts';

/** Most payments given at once while tailing. */
const TAIL_PAGE = 100;

/**
 * Waits until the payment is final. Rejects with the reason of `signal` when that aborts, or of the session when
 * its credential ends; throws `notFound`.
 */
export function waitForFinal(
  session: Session,
  index: PaymentIndex,
  signal: AbortSignal,
): Promise<Payment> {
  return waitUntil(session, index, isFinal, signal);
}

/** {@link waitForFinal} for another state of the payment. */
export async function waitUntil(
  session: Session,
  index: PaymentIndex,
  isReached: (payment: Payment) => boolean,
  signal: AbortSignal,
): Promise<Payment> {
  // The feed must begin before the row is read: what changes after the reading is then still to come.
  await session.feed.prepare(session.node);
  const { promise, resolve, reject } = Promise.withResolvers<Payment>();
  // It may be rejected while the row is read, when nobody waits for it yet: that must not end the process.
  promise.catch(() => undefined);
  const stopListening = session.feed.listenTo(index, (payment) => {
    if (isReached(payment)) resolve(payment);
  });
  const unsubscribe = onAbort([signal, session.ended], reject);
  try {
    const payment = await session.history.payment(index);
    if (payment === null) throw paymentNotFound();
    return isReached(payment) ? payment : await promise;
  } finally {
    unsubscribe();
    stopListening();
  }
}

/**
 * Every update after `after`, oldest first, for ever: what was stored before, then live, with no gap. Ends by
 * rejecting with the reason of `signal` or of the session's end.
 */
export async function* tail(
  session: Session,
  after: UpdatedIndex | null,
  signal: AbortSignal,
): AsyncGenerator<Payment[]> {
  await session.feed.prepare(session.node);
  let cursor = after;
  let changed = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const stopListening = session.feed.listen(() => changed.resolve());
  const unsubscribe = onAbort([signal, session.ended], failed.reject);
  try {
    while (true) {
      changed = Promise.withResolvers();
      const page = await session.history.updatedAfter(cursor, TAIL_PAGE);
      const last = page.at(-1);
      if (last) {
        cursor = updatedIndexOf(last);
        yield page;
      } else {
        await Promise.race([changed.promise, failed.promise]);
      }
    }
  } finally {
    unsubscribe();
    stopListening();
  }
}

/**
 * The next update after `after`. Without one it starts at the cache's cursor, and what it returns is stored there
 * (decisions section 11).
 */
export async function waitForNext(
  session: Session,
  after: UpdatedIndex | null,
  signal: AbortSignal,
): Promise<Payment> {
  const { cache } = session.store;
  const start = after ?? (await cache.cursor(session.userPk));
  for await (const [payment] of tail(session, start, signal)) {
    if (!payment) continue;
    if (after === null) await cache.apply(session.userPk, [payment], updatedIndexOf(payment));
    return payment;
  }
  throw new ApiError('internal', 'The update stream ended.');
}

/** Error 107 for a payment (contract, Errors). */
export function paymentNotFound(): ApiError {
  return new ApiError('notFound', 'Payment not found');
}

/** Rejects with the first signal's reason. Returns a function that stops that. */
function onAbort(signals: readonly AbortSignal[], reject: (reason: unknown) => void): () => void {
  const listeners = signals.map((signal) => {
    const listener = () => reject(signal.reason);
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
    return () => signal.removeEventListener('abort', listener);
  });
  return () => {
    for (const stop of listeners) stop();
  };
}
