import { quietResolvers } from '../lib/quiet-resolvers.ts';
import { sleep } from '../lib/sleep.ts';
import {
  encodePayment,
  isAwaitingApproval,
  isFinal,
  type Payment,
  type PaymentJson,
} from '../model/payment.ts';
import type { PaymentIndex } from '../model/payment-index.ts';
import { broadcastOf, endOf } from '../wallet/pay/await-end.ts';
import type { SendContext } from '../wallet/pay/send.ts';
import { paymentOf } from '../wallet/read/payments.ts';
import { type Session, watch } from '../wallet/session/session.ts';
import { tellingSent } from '../wallet/session/telling-sent.ts';
import { Reply, type SessionContext } from './route.ts';

/**
 * Returns the answer of a pay operation: the final payment, or 202 with the pending payment once the caller's `Prefer`
 * header asks for an answer (docs/decisions.md 47). With any `Prefer` a payment that begins to wait for approval is
 * told at once, since a person may take long; a repeat waits (docs/decisions.md 187).
 */
export async function answerPayment(
  context: SessionContext,
  pay: (send: SendContext) => Promise<Payment>,
  isRepeat = false,
): Promise<PaymentJson | Reply> {
  const { session, signal, idempotencyKey, names, respondAfterMs } = context;
  let met = newMeeting();
  let isAnswered = false;
  const outcome = pay({
    ...{ session, signal, idempotencyKey, names },
    onSent: (payment, isOutside) => met.told.resolve({ payment, isOutside }),
    goesOn: () => {
      if (isAnswered) return false;
      met.left.resolve();
      met = newMeeting();
      return true;
    },
  });
  if (respondAfterMs === null) return encodePayment(await outcome);
  const patienceMs = ({ payment }: Told) =>
    !isRepeat && isAwaitingApproval(payment) ? 0 : respondAfterMs;
  for (;;) {
    const now = met;
    const first = await patiently(now, outcome, patienceMs);
    if (isFinal(first.payment)) return encodePayment(first.payment);
    const payment = await present(session, first);
    // The request goes on with an attempt of its own where the other program's has failed.
    const isLeft = first.isOutside && payment.status === 'failed';
    if (isLeft) await Promise.race([outcome, now.left.promise]);
    if (isLeft || now !== met) continue;
    isAnswered = first.isOutside;
    // The payment continues. Its outcome reaches the store and the webhooks.
    outcome.catch((error) =>
      context.parts.log.debug(
        'A payment ended with an error after its request was answered with 202.',
        { error },
      ),
    );
    return isFinal(payment) ? encodePayment(payment) : new Reply(202, encodePayment(payment));
  }
}

interface Told {
  readonly payment: Payment;
  readonly isOutside: boolean;
}

interface Meeting {
  readonly told: PromiseWithResolvers<Told>;
  readonly left: PromiseWithResolvers<void>;
}

const newMeeting = (): Meeting => ({ told: quietResolvers<Told>(), left: quietResolvers() });

/** The end of the payment, or the payment as it was told when the patience of the caller has ended. */
async function patiently(
  { told }: Meeting,
  outcome: Promise<Payment>,
  patienceMs: (one: Told) => number,
): Promise<Told> {
  const over = new AbortController();
  const unanswered = told.promise.then(async (one) => {
    await sleep(patienceMs(one), over.signal);
    return one;
  });
  const ended = outcome.then((payment) => ({ payment, isOutside: false }));
  return Promise.race([ended, unanswered]).finally(() => over.abort());
}

/** The payment as it stands. That of another program is watched from now on, so that its end is delivered. */
async function present(session: Session, { payment, isOutside }: Told): Promise<Payment> {
  const { index } = payment;
  return tellingSent(
    'unknown',
    async () => {
      if (isOutside) await watch(session, { kind: 'payment', index });
      const now = (await session.history.payment(index)) ?? payment;
      // It may have ended before it was watched: then seeing it again ends the watch.
      if (isOutside && isFinal(now)) {
        await session.feed.observe({ payment: now, attempt: null }, session.node);
      }
      return now;
    },
    index,
  );
}

/**
 * Returns the answer to a repeat of a request that has begun a payment, as its own `Prefer` asks and as the payment
 * stands. An on-chain send is answered when its transaction is published, not at six confirmations
 * (docs/decisions.md 51). Null when the node was being asked for the payment and has refused it: there is none, and the
 * first request has the error to tell (docs/decisions.md 172).
 */
export async function resumePayment(
  context: SessionContext,
  index: PaymentIndex,
): Promise<PaymentJson | Reply | null> {
  if (!(await isAnswered(context, index))) return null;
  return answerPayment(
    context,
    async ({ session, signal, onSent }) => {
      const payment = await tellingSent('unknown', () => paymentOf(session, index), index);
      onSent(payment, false);
      return payment.rail === 'onchain'
        ? broadcastOf(session, payment, signal)
        : endOf(session, payment, signal);
    },
    true,
  );
}

/** Waits for the node's answer; false for a refusal. An error names no index: there may be no payment in the end. */
async function isAnswered(
  { session, signal }: SessionContext,
  index: PaymentIndex,
): Promise<boolean> {
  const { unanswered } = session.feed;
  if (!unanswered.has(index)) return true;
  return tellingSent('unknown', async () => {
    await unanswered.until(index, [signal, session.ended]);
    return (await session.history.stored(index)) !== null;
  });
}
