import { sleep } from '../lib/sleep.ts';
import { encodePayment, isFinal, type Payment, type PaymentJson } from '../model/payment.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import { broadcastOf, endOf, type SendContext } from '../wallet/pay/send.ts';
import { findPayment, paymentOf } from '../wallet/payments.ts';
import { tellingSent } from '../wallet/telling-sent.ts';
import { Reply, type SessionContext } from './route.ts';

/**
 * Returns the answer of a pay operation: the final payment, or 202 with the pending payment once the caller's `Prefer`
 * header asks for an answer (docs/decisions.md 47).
 */
export async function answerPayment(
  context: SessionContext,
  pay: (send: SendContext) => Promise<Payment>,
): Promise<PaymentJson | Reply> {
  const sent = Promise.withResolvers<Payment>();
  const { session, signal, idempotencyKey, names, respondAfterMs } = context;
  const outcome = pay({ session, signal, idempotencyKey, names, onSent: sent.resolve });
  if (respondAfterMs === null) return encodePayment(await outcome);
  const patience = new AbortController();
  const unanswered = sent.promise.then(async (payment) => {
    await sleep(respondAfterMs, patience.signal);
    return payment;
  });
  const first = await Promise.race([outcome, unanswered]).finally(() => patience.abort());
  if (isFinal(first)) return encodePayment(first);
  // The payment continues. Its outcome reaches the store and the webhooks.
  outcome.catch((error) =>
    context.parts.log.debug(
      'A payment ended with an error after its request was answered with 202.',
      { error },
    ),
  );
  const payment =
    (await tellingSent('unknown', () => findPayment(session, first.index), first.index)) ?? first;
  return isFinal(payment) ? encodePayment(payment) : new Reply(202, encodePayment(payment));
}

/**
 * Returns the answer to a repeat of a request that has begun a payment, as its own `Prefer` asks and as the payment
 * stands. An on-chain send is answered when its transaction is published, not at six confirmations
 * (docs/decisions.md 51).
 */
export function resumePayment(
  context: SessionContext,
  index: PaymentIndex,
): Promise<PaymentJson | Reply> {
  return answerPayment(context, async ({ session, signal, onSent }) => {
    const payment = await tellingSent('unknown', () => paymentOf(session, index), index);
    onSent(payment);
    return payment.rail === 'onchain'
      ? broadcastOf(session, payment, signal)
      : endOf(session, payment, signal);
  });
}
