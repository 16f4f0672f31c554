import { quietResolvers } from '../lib/quiet-resolvers.ts';
import { ApiError } from '../model/errors.ts';
import { isFinal, type Payment, updatedIndexOf } from '../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../model/payment-index.ts';
import type { Session } from './session.ts';
import { updatesPage } from './updates-page.ts';

/** The most payments that {@link tail} yields at once. */
const TAIL_PAGE = 100;

/**
 * Waits until the payment is final. Rejects with the reason of `signal` when that aborts, or with that of the session
 * when its credential ends. Throws `notFound` (error 107) when there is no such payment.
 */
export function waitForFinal(
  session: Session,
  index: PaymentIndex,
  signal: AbortSignal,
): Promise<Payment> {
  return waitUntil(session, index, isFinal, { signal, read: 'newest' });
}

/** How to wait for a payment. */
interface Waiting {
  readonly signal: AbortSignal;
  /** Whether to ask the node for the payment first, or to begin with what it has just shown. */
  readonly read: 'newest' | 'stored';
}

/** {@link waitForFinal} with another condition than being final. */
export async function waitUntil(
  session: Session,
  index: PaymentIndex,
  isReached: (payment: Payment) => boolean,
  { signal, read }: Waiting,
): Promise<Payment> {
  // The feed must begin before the row is read, so that every later change is pushed.
  await session.feed.prepare(session.node);
  // The promise may be rejected while the row is read and nothing awaits it yet.
  const { promise, resolve, reject } = quietResolvers<Payment>();
  const stopListening = session.feed.listenTo(index, (payment) => {
    if (isReached(payment)) resolve(payment);
  });
  const unsubscribe = onAbort([signal, session.ended], reject);
  try {
    const { history } = session;
    const payment = await (read === 'newest' ? history.payment(index) : history.stored(index));
    if (payment === null) throw paymentNotFound();
    return isReached(payment) ? payment : await promise;
  } finally {
    unsubscribe();
    stopListening();
  }
}

/**
 * Yields every update after `after`, oldest first, without end: first what is stored, then live, with no gap
 * (docs/decisions.md 89). It yields at most `limit` payments at once; callers that read the same page at the same time
 * get the same array. Ends by rejecting with the reason of `signal`, or of the session when its credential ends.
 */
export async function* tail(
  session: Session,
  after: UpdatedIndex | null,
  signal: AbortSignal,
  limit = TAIL_PAGE,
): AsyncGenerator<readonly Payment[]> {
  await session.feed.prepare(session.node);
  let cursor = after;
  let changed = Promise.withResolvers<void>();
  const ended = new AbortController();
  const stopListening = session.feed.listen(() => changed.resolve());
  const unsubscribe = onAbort([signal, session.ended], (reason) => {
    ended.abort(reason);
    changed.resolve();
  });
  try {
    while (true) {
      // This comes before the read, so that every change that the page does not hold ends the wait below.
      changed = Promise.withResolvers();
      ended.signal.throwIfAborted();
      const page = await updatesPage(session, cursor, limit);
      const last = page.at(-1);
      if (last) {
        cursor = updatedIndexOf(last);
        yield page;
      }
      if (page.length < limit) await changed.promise;
    }
  } finally {
    unsubscribe();
    stopListening();
  }
}

/**
 * Waits for the next update after `after`. Null starts at the cache's cursor, and then the update is stored in the
 * cache and moves that cursor (docs/decisions.md 88).
 */
export async function waitForNext(
  session: Session,
  after: UpdatedIndex | null,
  signal: AbortSignal,
): Promise<Payment> {
  const { cache } = session.store;
  const start = after ?? (await cache.cursor(session.userPk));
  for await (const [payment] of tail(session, start, signal, 1)) {
    if (!payment) continue;
    if (after === null) await cache.apply(session.userPk, [payment], updatedIndexOf(payment));
    return payment;
  }
  throw new ApiError('internal', 'The update stream ended.');
}

/** Returns the error 107 for a payment. */
export function paymentNotFound(): ApiError {
  return new ApiError('notFound', 'Payment not found');
}

/** Calls `reject` with the reason of the first signal that aborts. Returns a function that removes the listeners. */
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
