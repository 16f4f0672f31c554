import { formatAmountMsat } from '../../model/amount.ts';
import { ApiError, internalUnlessApi } from '../../model/errors.ts';
import { blankPayment, isFinal, type Payment, type Rail } from '../../model/payment.ts';
import { type PaymentId, type PaymentIndex, paymentIndex } from '../../model/payment-index.ts';
import type { SendReport, SignedSend } from '../../nodes/node.ts';
import type { NewSpend } from '../../store/ports.ts';
import { requireWithinBudget } from '../budget.ts';
import type { EffectNames } from '../effect-names.ts';
import { allows, type Session } from '../session.ts';
import { waitUntil } from '../wait.ts';

/** What the request that sends brings along, whatever the rail. */
export interface SendContext {
  readonly session: Session;
  /** Ends the wait for the outcome, not the payment. */
  readonly signal: AbortSignal;
  /** The request's Idempotency-Key; its row learns the payment's index before anything is sent. */
  readonly idempotencyKey: string | null;
  readonly names: EffectNames;
  /** Told of the payment as soon as it is on its way, or found to be. */
  readonly onSent: (payment: Payment) => void;
}

/** The wallet's own identity of a send. */
export interface SendIdentity {
  readonly index: PaymentIndex;
  readonly createdAtMs: number;
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
  /** Throws what keeps the payment from being made now, such as an invoice that has expired; an earlier one is met first. */
  readonly requirePayable?: () => void;
  /** What is known of the payment before the node is asked. */
  readonly details: Partial<Payment>;
  /** Makes what is sent, which is stored before the node is asked to send it; null where there is nothing to make. */
  readonly sign: ((identity: SendIdentity) => Promise<SignedSend>) | null;
  /** Asks the node to send. */
  readonly start: (identity: SendIdentity, signed: SignedSend | null) => Promise<SendReport>;
}

/**
 * Makes a payment at most once: an id that is on its way or done is not sent again, by any caller (decisions section
 * 5). A spend is named and begun in one transaction, asked in a committed one before the request leaves, and known
 * when the node has shown it. Returns the payment as it stands once the node has it, or pending when that is unknown.
 */
export async function send(
  context: SendContext,
  plan: SendPlan,
): Promise<{ payment: Payment; begun: boolean }> {
  const { session } = context;
  const sent = await session.locks.run(plan.id, async () => {
    const previous = await beforeSending(async () => {
      await session.resolver.ready();
      const latest = await session.history.latest(plan.id);
      if (latest) await requireMayMeet(session, latest);
      if (!latest || latest.status === 'failed') plan.requirePayable?.();
      else requireSameAmount(plan, latest);
      return latest;
    });
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
    const { payment } = await send(context, plan);
    return await endOf(session, payment, context.signal);
  } finally {
    release();
  }
}

/** The payment once it is final. Throws with `data.sent: "unknown"` when the wait ends before. */
export function endOf(session: Session, payment: Payment, signal: AbortSignal): Promise<Payment> {
  return reached(session, payment, isFinal, signal);
}

/** An on-chain payment once the node has shown its transaction; see {@link endOf}. */
export function broadcastOf(
  session: Session,
  payment: Payment,
  signal: AbortSignal,
): Promise<Payment> {
  return reached(session, payment, (one) => one.txid !== null || isFinal(one), signal);
}

async function reached(
  session: Session,
  payment: Payment,
  isReached: (payment: Payment) => boolean,
  signal: AbortSignal,
): Promise<Payment> {
  if (isReached(payment)) return payment;
  const stop = new AbortController();
  try {
    const now = await Promise.race([
      waitUntil(session, payment.index, isReached, signal),
      session.resolver.outOfReach(payment.index, stop.signal),
    ]);
    // The node may show the end sooner than its feed does; what that changes here is stored before it is returned.
    if (session.node.history)
      await session.feed.record({ payment: now, attempt: null }, session.node);
    return now;
  } catch (error) {
    throw error instanceof ApiError ? error.with({ sent: 'unknown', index: payment.index }) : error;
  } finally {
    stop.abort();
  }
}

async function begin(
  context: SendContext,
  plan: SendPlan,
  previous: Payment | null,
): Promise<Payment> {
  const { session, idempotencyKey } = context;
  const { node } = session;
  const nowMs = node.clock.now();
  // The newest payment of an id is the one created last, also when the clock was set back in between: an earlier
  // one that failed must not hide it, or the next request would pay again.
  const createdAtMs = Math.max(nowMs, (previous?.createdAtMs ?? 0) + 1);
  const index = paymentIndex(createdAtMs, plan.id);
  const identity = { index, createdAtMs };
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
  const signed = await beforeSending(async () => {
    const afterAttempt = plan.rail === 'onchain' ? null : await node.newestAttempt();
    await session.feed.prepare(node);
    if (session.hasBudget()) session.guard.requireTrusted();
    const spend: NewSpend = {
      payment: pending,
      journaled: node.history === undefined,
      // Where nothing is made before the node is asked, one commit serves both.
      state: plan.sign === null ? 'asked' : 'begun',
      afterAttempt,
      plan: null,
      caller: session.caller.id,
      idempotencyKey,
      reservation: session.isOwner
        ? null
        : { clientPk: session.caller.id, amountMsat: plan.amountMsat + plan.maxFeeMsat, nowMs },
    };
    await session.store.spends.begin(session.userPk, spend, requireWithinBudget);
    // From here on it is given up when it does not get as far as being asked for.
    try {
      if (session.hasBudget()) await session.guard.keepUp();
      requireStillGood(session);
      return plan.sign === null ? null : await signAndStore(session, plan.sign, identity);
    } catch (error) {
      await session.resolver.giveUp(index);
      throw error;
    }
  });
  session.feed.watchAdded();
  return startedPayment(session, pending, await startSafely(plan, identity, signed));
}

/** Signs, and stores what was signed before anybody is asked to publish it. */
async function signAndStore(
  session: Session,
  sign: NonNullable<SendPlan['sign']>,
  identity: SendIdentity,
): Promise<SignedSend> {
  const signed = await sign(identity);
  try {
    requireStillGood(session);
    await session.store.spends.asked(session.userPk, identity.index, JSON.stringify(signed));
  } catch (error) {
    await session.node.onchain?.release(signed).catch(() => undefined);
    throw error;
  }
  return signed;
}

async function startSafely(
  plan: SendPlan,
  identity: SendIdentity,
  signed: SignedSend | null,
): Promise<SendReport> {
  try {
    return await plan.start(identity, signed);
  } catch (error) {
    // A connector reports; what it throws instead proves nothing.
    return { state: 'unknown', error: internalUnlessApi(error) };
  }
}

/** What a report means for the payment: the wallet alone decides (architecture, a spend is a state machine). */
async function startedPayment(
  session: Session,
  pending: Payment,
  report: SendReport,
): Promise<Payment> {
  const { index } = pending;
  if (report.state === 'unknown') {
    session.log.warn(
      'The node may have been asked to send and has not said so; it is asked again.',
      { walletId: session.userPk, index, error: report.error },
    );
    session.resolver.mind(index);
    return pending;
  }
  if (report.state === 'refused') {
    await beforeSending(() => session.resolver.giveUp(index));
    throw report.error.with({ sent: 'no' });
  }
  try {
    return await session.feed.record(report, session.node);
  } catch (error) {
    // The node has said it and this program has not kept it: it is asked again.
    session.resolver.mind(index);
    throw internalUnlessApi(error).with({ sent: 'unknown', index });
  }
}

/** An invoice without an amount is paid once, whatever amount is asked for the next time (decisions section 5). */
function requireSameAmount({ amountMsat, rail }: SendPlan, previous: Payment): void {
  if (rail === 'onchain' || previous.amountMsat === null) return;
  if (previous.amountMsat === amountMsat) return;
  throw new ApiError(
    'refused',
    `This invoice was paid with ${formatAmountMsat(previous.amountMsat)} sats already, or is being paid: it cannot be paid again with another amount.`,
  );
}

/** A payment of the same id that was made before: its own payer may see it, and whoever may read payments. */
async function requireMayMeet(session: Session, previous: Payment): Promise<void> {
  if (previous.direction !== 'outbound') {
    throw new ApiError(
      'refused',
      'This invoice is your own: it cannot be paid from the wallet it pays into.',
    );
  }
  if (session.isOwner || allows(session, 'get_payment_by_id')) return;
  const caller = await session.store.spends.callerOf(session.userPk, previous.index);
  if (caller === session.caller.id || previous.status === 'failed') return;
  throw new ApiError(
    'refused',
    'Another client of this wallet has paid this already or is paying it.',
    {
      data: { status: previous.status },
    },
  );
}

function requireStillGood(session: Session): void {
  if (session.ended.aborted) throw session.ended.reason;
}

/** Runs what happens before the node is asked: its errors say that nothing was sent. */
async function beforeSending<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw internalUnlessApi(error).with({ sent: 'no' });
  }
}
