import { ApiError } from '../../model/errors.ts';
import { blankPayment, isFinal, type Payment, type Rail } from '../../model/payment.ts';
import { type PaymentId, type PaymentIndex, paymentIndex } from '../../model/payment-index.ts';
import { prepareWatch, type Session } from '../session.ts';
import { waitForFinal } from '../wait.ts';

/** What the request that sends brings along, whatever the rail. */
export interface SendContext {
  readonly session: Session;
  /** Ends the wait for the outcome, not the payment. */
  readonly signal: AbortSignal;
  /** The request's Idempotency-Key; its row learns the payment's index before anything is sent. */
  readonly idempotencyKey: string | null;
  /** Told of the payment as soon as it is on its way, or found to be. */
  readonly onSent: (payment: Payment) => void;
}

/** A payment about to be made. */
export interface SendPlan {
  readonly id: PaymentId;
  readonly rail: Rail;
  readonly amountMsat: bigint;
  /** Most that the payment may cost on top; counts towards the budget until the outcome is known. */
  readonly maxFeeMsat: bigint;
  /** Whether a payment of the same id that failed may be followed by another. */
  readonly again: 'after-failure' | 'never';
  /** What is known of the payment before the node is asked. */
  readonly details: Partial<Payment>;
  /** Asks the node; durable in the node when it answers. */
  readonly start: (identity: { index: PaymentIndex; createdAtMs: number }) => Promise<Payment>;
}

/**
 * Makes a payment at most once: an id that is on its way or done is not sent again, whoever asks. The watch, the
 * budget reservation and, for nodes without a history, the payment itself are durable before the node is asked
 * (decisions section 5). Answers the payment as it stands once the node has it, and whether this call began it.
 */
export async function send(
  context: SendContext,
  plan: SendPlan,
): Promise<{ payment: Payment; begun: boolean }> {
  const { session } = context;
  const sent = await session.locks.run(plan.id, async () => {
    const previous = await session.history.latest(plan.id);
    if (previous && previous.direction !== 'outbound') {
      throw new ApiError(
        'refused',
        'This invoice is your own: it cannot be paid from the wallet it pays into.',
      );
    }
    const mayBegin = !previous || (previous.status === 'failed' && plan.again === 'after-failure');
    return mayBegin
      ? { payment: await begin(context, plan, previous), begun: true }
      : { payment: previous, begun: false };
  });
  context.onSent(sent.payment);
  return sent;
}

/** {@link send}, then waits for the outcome (contract: pay operations block until the payment is terminal). */
export async function sendAndWait(context: SendContext, plan: SendPlan): Promise<Payment> {
  const { session } = context;
  // Held from before the start, so that one feed serves the sending and the waiting.
  const release = session.feed.hold();
  try {
    const { payment, begun } = await send(context, plan);
    const settled = isFinal(payment) && session.node.history !== undefined;
    const final = settled ? payment : await waitForFinal(session, payment.index, context.signal);
    // The node may tell us sooner than its feed; what the outcome changes here is stored before it is answered.
    if (begun) await session.feed.apply({ payments: [final], cursor: null }, session);
    return final;
  } finally {
    release();
  }
}

async function begin(
  context: SendContext,
  plan: SendPlan,
  previous: Payment | null,
): Promise<Payment> {
  const { session, idempotencyKey } = context;
  const { store, userPk: walletId, node } = session;
  const nowMs = node.clock.now();
  // The newest payment of an id is the one created last, also when the clock was set back in between: an earlier
  // one that failed must not hide it, or the next request would pay again.
  const createdAtMs = Math.max(nowMs, (previous?.createdAtMs ?? 0) + 1);
  const index = paymentIndex(createdAtMs, plan.id);
  const pending = {
    ...blankPayment({
      index,
      rail: plan.rail,
      direction: 'outbound',
      status: 'pending',
      statusMsg: 'pending',
      createdAtMs,
      updatedAtMs: createdAtMs,
    }),
    amountMsat: plan.amountMsat,
    ...plan.details,
  };
  const clientPk = session.client()?.clientPk;
  await prepareWatch(session);
  await store.intents.begin(walletId, {
    payment: pending,
    journaled: node.history === undefined,
    idempotencyKey,
    reservation:
      clientPk === undefined
        ? null
        : { clientPk, amountMsat: plan.amountMsat + plan.maxFeeMsat, nowMs },
  });
  session.feed.watchAdded();
  let started: Payment;
  try {
    started = await plan.start({ index, createdAtMs });
  } catch (error) {
    return undo(context, pending, error);
  }
  return session.feed.record(started, session);
}

/** After a failed start: forgets the payment when nothing was sent, and keeps it pending when that is unknown. */
async function undo(context: SendContext, pending: Payment, error: unknown): Promise<Payment> {
  const { session, idempotencyKey } = context;
  const unknown = !(error instanceof ApiError) || error.outcomeUnknown;
  if (unknown) {
    const started = session.node.history ? await session.node.payment(pending.index) : pending;
    if (started) return started;
  }
  await session.store.intents.abandon(session.userPk, pending.index, idempotencyKey);
  await session.feed.refreshWatched();
  throw error;
}
