import { sleep } from '../../lib/sleep.ts';
import { isApiError } from '../../model/errors.ts';
import { encodePayment, isFinal, type Payment, type PaymentJson } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import { broadcastOf, endOf, type SendContext } from '../../wallet/pay/send.ts';
import { findPayment, paymentOf } from '../../wallet/payments.ts';
import type { Session } from '../../wallet/session.ts';
import { Reply, type SessionContext } from '../route.ts';

/**
 * Answers a pay operation: with the finalized payment, or with 202 and the pending one as soon as the caller's
 * `Prefer` header asks for it (decisions section 5).
 */
export async function answerPayment(
  context: SessionContext,
  pay: (send: SendContext) => Promise<Payment>,
): Promise<PaymentJson | Reply> {
  const sent = Promise.withResolvers<Payment>();
  const { session, signal, idempotencyKey, names, respondAfterMs } = context;
  const send = { session, signal, idempotencyKey, names, onSent: sent.resolve };
  // What is thrown while the payment is planned is an outcome too.
  const outcome = Promise.try(pay, send).catch((error) => {
    throw withSent(error);
  });
  if (respondAfterMs === null) return encodePayment(await outcome);
  const pending = sent.promise.then(async (payment) => {
    await sleep(respondAfterMs, signal);
    return (await findPayment(session, payment.index)) ?? payment;
  });
  const payment = await Promise.race([outcome, pending]);
  if (isFinal(payment)) return encodePayment(payment);
  // The payment goes on; its outcome is in the node, the cache and the webhooks.
  outcome.catch((error) =>
    context.parts.log.debug('Nobody waits for a payment any more.', { error }),
  );
  return new Reply(202, encodePayment(payment));
}

/** What fails before the send begins has sent nothing; from there on errors say it themselves (decisions section 2). */
function withSent(error: unknown): unknown {
  return isApiError(error) ? error.with({ sent: 'no' }) : error;
}

/**
 * Answers a repeat of a request that has begun a payment, by its own `Prefer`, as the payment then stands. An on-chain
 * send is answered as soon as its transaction is broadcast, not at six confirmations (decisions section 6).
 */
export function resumePayment(
  context: SessionContext,
  index: PaymentIndex,
): Promise<PaymentJson | Reply> {
  return answerPayment(context, async ({ session, signal, onSent }) => {
    const payment = await begun(session, index);
    onSent(payment);
    return payment.rail === 'onchain'
      ? broadcastOf(session, payment, signal)
      : endOf(session, payment, signal);
  });
}

async function begun(session: Session, index: PaymentIndex): Promise<Payment> {
  try {
    return await paymentOf(session, index);
  } catch (error) {
    throw isApiError(error) ? error.with({ sent: 'unknown', index }) : error;
  }
}
