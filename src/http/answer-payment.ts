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
 * (docs/decisions.md 51). Null when the node was being asked for the payment and has refused it: there is none, and the
 * first request has the error to tell (docs/decisions.md 175).
 */
export async function resumePayment(
  context: SessionContext,
  index: PaymentIndex,
): Promise<PaymentJson | Reply | null> {
  if (!(await isAnswered(context, index))) return null;
  return answerPayment(context, async ({ session, signal, onSent }) => {
    const payment = await tellingSent('unknown', () => paymentOf(session, index), index);
    onSent(payment);
    return payment.rail === 'onchain'
      ? broadcastOf(session, payment, signal)
      : endOf(session, payment, signal);
  });
}

/** Waits for the node's answer to a request that is on its way. Returns false when that was a refusal. */
async function isAnswered(
  { session, signal }: SessionContext,
  index: PaymentIndex,
): Promise<boolean> {
  const { unanswered } = session.feed;
  if (!unanswered.has(index)) return true;
  return tellingSent(
    'unknown',
    async () => {
      await unanswered.until(index, [signal, session.ended]);
      return (await session.history.stored(index)) !== null;
    },
    index,
  );
}
