import { isFinal, type Payment } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import { waitUntil } from '../read/wait.ts';
import type { Payer } from '../session/session.ts';
import { tellingSent } from '../session/telling-sent.ts';
import { requireSameTerms } from './earlier.ts';

/** Waits until the payment is final. Errors carry `data.sent: "unknown"` when the wait ends before that. */
export function endOf(session: Payer, payment: Payment, signal: AbortSignal): Promise<Payment> {
  return reached(session, payment, payment.index, isFinal, signal);
}

/**
 * Waits until the node has shown the transaction of an on-chain payment, or it is final. Errors are as in
 * {@link endOf}.
 */
export function broadcastOf(
  session: Payer,
  payment: Payment,
  signal: AbortSignal,
): Promise<Payment> {
  const isShown = (one: Payment) => one.txid !== null || isFinal(one);
  return reached(session, payment, payment.index, isShown, signal);
}

/**
 * Waits until `isReached` is true of the payment. Errors carry the index `told`, which is null where the caller may not
 * see the payment.
 */
export async function reached(
  session: Payer,
  payment: Payment,
  told: PaymentIndex | null,
  isReached: (payment: Payment) => boolean,
  signal: AbortSignal,
): Promise<Payment> {
  if (isReached(payment)) return payment;
  const stop = new AbortController();
  const { index } = payment;
  const wait = async () => {
    const now = await Promise.race([
      waitUntil(session, index, isReached, { signal, read: 'stored' }),
      session.resolver.outOfReach(index, stop.signal),
    ]);
    // The node may show the end before its feed does. The end is stored before the payment is returned.
    const { node, feed } = session;
    if (node.history) await feed.observeOnce({ payment: now, attempt: null }, node);
    if (now.index !== index) await requireSameTerms(session, payment, now);
    return now;
  };
  return tellingSent('unknown', wait, told ?? undefined).finally(() => stop.abort());
}
