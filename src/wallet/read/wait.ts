import { quietResolvers } from '../../lib/quiet-resolvers.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, rejected } from '../../model/errors.ts';
import { isFinal, type Payment, updatedIndexOf } from '../../model/payment.ts';
import type { PaymentIndex, UpdatedIndex } from '../../model/payment-index.ts';
import { onAbort } from '../session/on-abort.ts';
import { paymentNotFound, seesOnlyOwn } from '../session/own-payments.ts';
import type { OnNode, Session, Waiter, WalletRows } from '../session/session.ts';
import { UpdatesTail } from './updates-tail.ts';

/**
 * Waits until the payment is final. Rejects with the reason of `signal` when that aborts, or with that of the session
 * when its credential ends. Throws `notFound` (error 107) when there is no such payment.
 */
export function waitForFinal(
  session: Waiter,
  index: PaymentIndex,
  signal: AbortSignal,
): Promise<Payment> {
  return waitUntil(session, index, isFinal, { signal, read: 'newest' });
}

/** A wait without time left still returns what its first read shows within this time. */
const READ_WITHIN_MS = 1000;

interface Waiting {
  readonly signal: AbortSignal;
  /** Whether to ask the node for the payment first, or to begin with what it has just shown. */
  readonly read: 'newest' | 'stored';
}

/** {@link waitForFinal} with another condition than being final. */
export async function waitUntil(
  session: Waiter,
  index: PaymentIndex,
  isReached: (payment: Payment) => boolean,
  { signal, read }: Waiting,
): Promise<Payment> {
  // The feed must begin before the row is read, so that every later change is pushed.
  await session.feed.prepare(session.node);
  // The promise may be rejected while the row is read and nothing awaits it yet.
  const { promise, resolve, reject } = quietResolvers<Payment>();
  const stopListening = session.feed.listenTo(index, (payment) => {
    if (payment === null) reject(paymentNotFound());
    else if (isReached(payment)) resolve(payment);
  });
  const unsubscribe = onAbort([signal, session.ended], reject);
  const over = new AbortController();
  // The node may take long to answer the read, or not answer it at all.
  const meanwhile = promise.catch(async (reason) => {
    if (!session.ended.aborted) await sleep(READ_WITHIN_MS, over.signal);
    throw reason;
  });
  const reading = async () => {
    const { history } = session;
    const payment = await (read === 'newest' ? history.payment(index) : history.stored(index));
    if (payment === null) throw paymentNotFound();
    return isReached(payment) ? payment : promise;
  };
  try {
    return await Promise.race([reading(), meanwhile]);
  } finally {
    over.abort();
    unsubscribe();
    stopListening();
  }
}

/**
 * Waits for the next update after `after`. Null starts at the cache's cursor, and then the update is stored in the
 * cache and moves that cursor (docs/decisions.md 88), which stays where it is when the cache was cleared meanwhile.
 */
export async function waitForNext(
  session: Waiter & WalletRows & Pick<Session, 'locks'>,
  after: UpdatedIndex | null,
  signal: AbortSignal,
): Promise<Payment> {
  if (after === null && seesOnlyOwn(session)) {
    // The cache's cursor is of all payments, and must not pass one that this caller is not told.
    throw rejected('start_index', 'is required of who sees only its own: take an id of the stream');
  }
  const start = after ?? (await session.store.cache.cursor(session.userPk));
  const [payment] = await nextPage(session, start, signal);
  if (payment === undefined) throw new ApiError('internal', 'A page without updates was told.');
  if (after === null) await storeNext(session, payment, start);
  return payment;
}

/** Stores what a wait from the cursor `start` has found. The lock keeps the cache from being cleared in between. */
function storeNext(
  { locks, store, userPk, node }: OnNode & WalletRows & Pick<Session, 'locks'>,
  payment: Payment,
  start: UpdatedIndex | null,
): Promise<unknown> {
  return locks.run('clear', async () => {
    const cursor = await store.cache.cursor(userPk);
    // Behind the start of the wait is what a cleared cache must get again.
    const isCleared = start !== null && (cursor === null || cursor < start);
    await store.cache.apply(
      userPk,
      [payment],
      isCleared ? null : updatedIndexOf(payment),
      node.history ? 'node' : 'journal',
    );
  });
}

/** The next update after `after`, alone. */
function nextPage(
  session: Waiter,
  after: UpdatedIndex | null,
  signal: AbortSignal,
): Promise<readonly Payment[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Payment[]>();
  const tail = new UpdatesTail(
    session,
    { after, signal, limit: 1 },
    { take: resolve, fail: reject },
  );
  tail.ask();
  return promise.finally(() => tail.stop());
}
