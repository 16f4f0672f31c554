import { type ApiError, internalUnlessApi, refused } from '../../model/errors.ts';
import {
  awaitingApproval,
  blankPayment,
  idOf,
  isFinal,
  type Payment,
} from '../../model/payment.ts';
import { type PaymentIndex, paymentIndex } from '../../model/payment-index.ts';
import type { SendReport, SignedSend } from '../../nodes/node.ts';
import type { NewSpend, SpendState } from '../../store/ports.ts';
import type { EffectNames } from '../session/effect-names.ts';
import { maySee, requireMaySee } from '../session/paid-by-another.ts';
import { approveAboveMsat, type OnNode, type Payer, type WalletRows } from '../session/session.ts';
import { tellingDoubt, tellingSent } from '../session/telling-sent.ts';
import { endOf, reached } from './await-end.ts';
import { type Earlier, earlierOf } from './earlier.ts';
import type { OnchainPlan, SendIdentity, SendPlan, UnfetchedPlan } from './send-plan.ts';
import { planText } from './spend.ts';
import { decide } from './spend-state.ts';

/** What every pay request brings along, on any rail. */
export interface SendContext {
  readonly session: Payer;
  /** Aborting it ends the wait for the outcome, not the payment. */
  readonly signal: AbortSignal;
  /** The request's Idempotency-Key. The payment's index is written to its row before anything is sent. */
  readonly idempotencyKey: string | null;
  readonly names: EffectNames;
  /**
   * Called with the payment as soon as it is on its way, or when an earlier one is found, and with whether that is a
   * payment of another program.
   */
  readonly onSent: (payment: Payment, isOutside: boolean) => void;
  /**
   * Called when the payment of another program has failed, for which the request was waiting: whether the request now
   * makes an attempt of its own. It must not where it was answered with that payment (docs/decisions.md 173).
   */
  readonly goesOn: () => boolean;
}

/** How often a request begins anew because another program was faster, before it gives up. */
const MOST_ROUNDS = 10;

/** What a request to send has led to. */
interface Sent extends Pick<Earlier, 'isOutside'> {
  readonly payment: Payment;
  /** False for an earlier payment with the same id. */
  readonly begun: boolean;
}

/**
 * Makes a payment at most once: an id that is pending or completed is not sent again, for any caller
 * (docs/decisions.md 46). The spend's row is `begun` or `asked` in a committed transaction before the request leaves
 * (docs/decisions.md 34). Returns the payment as the node shows it, or pending when its outcome is unknown, or an
 * earlier payment with the same id. Errors carry `data.sent`, but for the payment of another client.
 */
export async function send(context: SendContext, plan: SendPlan | UnfetchedPlan): Promise<Sent> {
  for (let round = 1; ; round++) {
    const sent = await context.session.locks.run(plan.id, () => sendOnce(context, plan));
    // Another program was faster. Its payment is met in the next round.
    if (sent === null && round < MOST_ROUNDS) continue;
    if (sent === null) throw keptFromPaying();
    if (!sent.isOutside || (await maySee(context.session, sent.payment.index))) {
      context.onSent(sent.payment, sent.isOutside);
    }
    return sent;
  }
}

function keptFromPaying(): ApiError {
  return refused(
    'The node has refused to pay this invoice again and again, since another program is paying it: look at the payment, and try again later.',
  ).with({ sent: 'no' });
}

/** {@link send} that returns null when another program's payment of the same id came between. */
async function sendOnce(
  context: SendContext,
  plan: SendPlan | UnfetchedPlan,
): Promise<Sent | null> {
  const { session } = context;
  const earlier = await tellingSent('no', () => earlierOf(session, plan));
  const { previous, begins, isOutside } = earlier;
  if (previous && !begins) return { payment: previous, begun: false, isOutside };
  const ready = 'fetch' in plan ? await fetched(context, plan) : plan;
  let told: readonly Payment[] = [];
  const payment = await session.feed.whileSending(
    plan.id,
    session.node,
    () => begin(context, ready, earlier),
    (changed) => {
      told = changed;
    },
  );
  // The node may have told more of it while the answer was on its way.
  const newest = told.findLast(({ index }) => index === payment?.index) ?? payment;
  return newest && { payment: newest, begun: true, isOutside: false };
}

/**
 * The plan with its invoice (docs/decisions.md 40). The issuer may take its time, and nothing is begun for a caller who
 * has gone meanwhile or lost the permission.
 */
function fetched({ signal }: SendContext, plan: UnfetchedPlan): Promise<SendPlan> {
  return tellingSent('no', async () => {
    const ready = await plan.fetch();
    signal.throwIfAborted();
    return ready;
  });
}

/** {@link send} that then waits until the payment is final (docs/decisions.md 47). */
export async function sendAndWait(
  context: SendContext,
  plan: SendPlan | UnfetchedPlan,
): Promise<Payment> {
  const { session } = context;
  // The feed is held from the start, so that one feed serves both the sending and the waiting.
  const release = session.feed.hold();
  try {
    for (;;) {
      const { payment, isOutside } = await send(context, plan);
      if (!isOutside) return await endOf(session, payment, context.signal);
      const told = (await maySee(session, payment.index)) ? payment.index : null;
      const end = await reached(session, payment, told, isFinal, context.signal);
      // What another program failed to do does not answer a request that was never sent.
      if (end.status === 'failed' && context.goesOn()) continue;
      await requireMaySee(session, end);
      return end;
    }
  } finally {
    release();
  }
}

function begin(context: SendContext, plan: SendPlan, earlier: Earlier): Promise<Payment | null> {
  const { session } = context;
  const { node } = session;
  const nowMs = node.clock.now();
  // The newest payment with an id is the one with the latest creation time, so a retry must be later than the failed
  // payment before it, also when the clock was set back. Otherwise the next request would find the failed one and pay
  // again.
  const earliestMs = Math.max(nowMs, (earlier.previous?.createdAtMs ?? 0) + 1);
  // Core Lightning tells whole seconds, by which payments of other programs are named: none may have this index.
  const createdAtMs = node.history || earliestMs % 1000 > 0 ? earliestMs : earliestMs + 1;
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
  return session.feed.unanswered.during(index, () => ask(context, plan, earlier, pending));
}

/** Stores the spend, then asks the node, unless the payment waits for approval (docs/decisions.md 187). */
async function ask(
  { session, idempotencyKey }: SendContext,
  plan: SendPlan,
  { previous, afterAttempt, requireLeft }: Earlier,
  pending: Payment,
): Promise<Payment | null> {
  const { node } = session;
  const { index, createdAtMs } = pending;
  const identity = { index, createdAtMs };
  const nowMs = node.clock.now();
  const aboveMsat = approveAboveMsat(session);
  const waits = aboveMsat !== null && plan.amountMsat + plan.maxFeeMsat > aboveMsat;
  // When there is nothing to sign now, one commit serves both states.
  const isWhole = waits || plan.sign === null;
  const payment = waits ? awaitingApproval(pending) : pending;
  const order = await tellingSent('no', async () => {
    await session.feed.prepare(node);
    if (session.hasBudget()) session.guard.requireTrusted();
    const spend: NewSpend = {
      payment,
      journaled: node.history === undefined,
      state: waits ? 'awaiting' : isWhole ? 'asked' : 'begun',
      afterAttempt,
      plan: isWhole && plan.repeat ? planText(plan.repeat) : null,
      fetchedInvoice: plan.fetchedInvoice ?? null,
      caller: session.caller.id,
      idempotencyKey,
      approveUntilMs: waits ? nowMs + session.approvals.waitMs : null,
      deliver: session.approvals.deliver,
      reservation: session.isOwner
        ? null
        : { clientPk: session.caller.id, amountMsat: plan.amountMsat + plan.maxFeeMsat, nowMs },
      previous,
      ...(requireLeft && { requireLeft }),
    };
    const begun = await session.store.spends
      .begin(session.userPk, spend, session.budgetRules)
      .catch((error) => tellingDoubt(error, index));
    if (!begun) return null;
    if (waits) return 'waits';
    // From here on, a spend that is not sent must be given up.
    try {
      if (session.hasBudget()) await session.guard.requireKept();
      requireStillGood(session);
      if (plan.sign === null) return { signed: null, start: () => plan.start(identity) };
      const signed = await signAndStore(session, plan.sign, identity);
      return { signed, start: () => plan.start(identity, signed) };
    } catch (error) {
      // What is not given up may be sent after a restart.
      await tellingSent('unknown', () => session.resolver.giveUp(index), index);
      throw error;
    }
  });
  if (order === null) return null;
  session.feed.watchAdded();
  if (order === 'waits') return session.approvals.began(payment, node);
  const undo = () => session.resolver.giveUp(index).then(() => null);
  return startedPayment(session, pending, { ...order, undo });
}

/** Signs the transaction and stores it before the node is asked to publish it (docs/decisions.md 38). */
async function signAndStore(
  session: Payer,
  sign: OnchainPlan['sign'],
  identity: SendIdentity,
): Promise<SignedSend> {
  const signed = await sign(identity);
  try {
    requireStillGood(session);
    const asked = { plan: planText(signed), journaled: session.node.history === undefined };
    await session.store.spends.asked(session.userPk, identity.index, asked);
  } catch (error) {
    await releaseCoins(session, signed);
    throw error;
  }
  return signed;
}

/** Gives back the coins of a send that was not published. Where that fails, their locks end by themselves. */
export async function releaseCoins({ node }: OnNode, signed: SignedSend): Promise<void> {
  await node.onchain?.release(signed).catch(() => undefined);
}

async function startSafely(start: () => Promise<SendReport>): Promise<SendReport> {
  try {
    return await start();
  } catch (error) {
    // A connector returns a report. An error that it throws instead proves nothing.
    return { state: 'unknown', error: internalUnlessApi(error) };
  }
}

/** The first request for a spend that is stored as asked for. */
interface FirstRequest {
  readonly signed: SignedSend | null;
  readonly start: () => Promise<SendReport>;
  /** Undoes the spend where the node has refused it. Returns the payment at its end; null where none is left. */
  readonly undo: (error: ApiError) => Promise<Payment | null>;
}

/**
 * Asks the node, and does what its report means for the payment (docs/decisions.md 34). Null when the payment of
 * another program came first.
 */
export async function startedPayment(
  session: Pick<Payer, 'node' | 'feed' | 'resolver' | 'log' | 'store' | 'userPk'>,
  pending: Payment,
  { signed, start, undo }: FirstRequest,
): Promise<Payment | null> {
  const report = await startSafely(start);
  const { index } = pending;
  const { node, feed, resolver, log, userPk } = session;
  const state = report.state === 'refused' ? await stateOf(session, index) : 'asked';
  const when = { question: signed ? 'publish' : 'request', nowMs: node.clock.now() } as const;
  const { fate, observation } = decide({ payment: pending, state }, report, when);
  if (fate === 'give_up' && 'error' in report) {
    const { error } = report;
    // What is not undone may be sent after a restart.
    const ended = await tellingSent('unknown', () => undo(error), index);
    if (signed) await releaseCoins(session, signed);
    if (ended !== null) return ended;
    throw error.with({ sent: 'no' });
  }
  if (observation === null) {
    const error = 'error' in report ? report.error : null;
    log.warn(
      'The node may have been asked to send, and the outcome is not known; it is asked again.',
      { walletId: userPk, index, error },
    );
    feed.answerLost(idOf(pending));
    await resolver.resolve(index);
    return pending;
  }
  try {
    const stored = await feed.record(observation, node);
    return fate === 'give_way' ? null : stored;
  } catch (error) {
    // The node has shown the payment, but it could not be stored, so the node is asked again.
    feed.answerLost(idOf(pending));
    await resolver.resolve(index);
    throw internalUnlessApi(error).with({ sent: 'unknown', index });
  }
}

/** The state of a spend whose request was refused. One that is over already was shown by the node. */
async function stateOf({ store, userPk }: WalletRows, index: PaymentIndex): Promise<SpendState> {
  return (await store.spends.get(userPk, index))?.state ?? 'known';
}

function requireStillGood({ ended }: Pick<Payer, 'ended'>): void {
  if (ended.aborted) throw ended.reason;
}
