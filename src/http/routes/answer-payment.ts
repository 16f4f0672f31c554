import { sleep } from '../../lib/sleep.ts';
import { isApiError } from '../../model/errors.ts';
import { encodePayment, isFinal, type Payment, type PaymentJson } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import { broadcastOf, endOf, type SendContext } from '../../wallet/pay/send.ts';
import { findPayment, paymentOf } from '../../wallet/payments.ts';
import type { Session } from '../../wallet/session.ts';
import { Reply, type SessionContext } from '../route.ts';

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
  const send = { session, signal, idempotencyKey, names, onSent: sent.resolve };
  // `Promise.try` also turns errors that `pay` throws synchronously into rejections.
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
  // The payment continues. Its outcome reaches the store and the webhooks.
  outcome.catch((error) =>
    context.parts.log.debug(
      'A payment ended with an error after its request was answered with 202.',
      { error },
    ),
  );
  return new Reply(202, encodePayment(payment));
}

/**
 * Adds `sent: "no"` to an error from before the send began. Errors of the send itself already say it
 * (docs/decisions.md 12).
 */
function withSent(error: unknown): unknown {
  return isApiError(error) ? error.with({ sent: 'no' }) : error;
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
