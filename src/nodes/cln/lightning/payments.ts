import { sleep } from '../../../lib/sleep.ts';
import { ApiError, refused } from '../../../model/errors.ts';
import { isFinal } from '../../../model/payment.ts';
import type { Observation } from '../../node-observations.ts';
import type { PayFetchedCommand, PayInvoiceCommand, SendReport } from '../../node-sends.ts';
import { maxSendableMsat } from '../reads/channels.ts';
import { isSendListComplete } from '../reads/tips.ts';
import type { ClnHandle } from '../reads/wallet.ts';
import { refusesToPay } from '../words/certainty.ts';
import { paidShape, waitShape } from '../words/wire.ts';
import { isListed } from './invoices.ts';
import {
  asPaid,
  callFailed,
  type Ended,
  isOfThisCall,
  noteEnd,
  notSent,
  ownSeen,
  type RunningSend,
  reportAfter,
  reportBefore,
  type SendOrder,
} from './running-send.ts';
import { attemptsToPay, sharesBy } from './sends.ts';

/** Seconds in which the node may begin new attempts; parts on their way may take longer to end. */
const RETRY_FOR_SECS = 60;

/** How long a payment is under way before the node is asked whether it has recorded a part of it. */
const FIRST_ASKED_MS = 250;

/**
 * For how long a payment may be under way without a part that the node shows: the time of all tries, and a margin. A
 * call that says nothing until then is on a connection that died without a sign, or its node is away
 * (docs/decisions.md 176).
 */
const FIRST_PART_WITHIN_MS = 90_000;

/** Starts paying an invoice of BOLT 11; see {@link startPayment}. The wallet's own invoice is refused. */
export async function payInvoice(node: ClnHandle, command: PayInvoiceCommand): Promise<SendReport> {
  const { amountMsat, payeePubkey } = command.invoice;
  // Core Lightning would pay it within itself, and the two payments would have one index.
  if (payeePubkey === node.wallet.nodePk) return notSent({ command }, isOwnInvoice());
  const amount = amountMsat === null ? { amount_msat: `${command.amountMsat}msat` } : {};
  return startPayment(node, command, { amount, isFetched: false });
}

/**
 * Starts paying an invoice that was fetched for an offer; see {@link startPayment}. An attempt of others to pay it is
 * in the way: the report is `refused`, as it is for an invoice of the wallet's own offer.
 */
export async function payFetched(node: ClnHandle, command: PayFetchedCommand): Promise<SendReport> {
  const { amountMsat, paymentHash } = command.invoice;
  try {
    if (await isListed(node.owner, paymentHash)) return notSent({ command }, isOwnInvoice());
  } catch (error) {
    // Nothing was asked for yet.
    if (error instanceof ApiError) return notSent({ command }, error);
    throw error;
  }
  return startPayment(node, { ...command, amountMsat }, { amount: {}, isFetched: true });
}

/**
 * Starts paying an invoice and returns once the node has recorded a part of it. The node keeps the payment's index as
 * its label. What becomes of it is published to the feed; when the connection breaks, the node goes on, and the payment
 * is looked up by its hash. Every payment has a fee limit. A repeat is never `refused`, since that would say nothing of
 * the first request.
 */
async function startPayment(
  { rpc, owner, wallet }: ClnHandle,
  command: SendOrder,
  { amount, isFetched }: { readonly amount: { amount_msat?: string }; readonly isFetched: boolean },
): Promise<SendReport> {
  const { text, paymentHash } = command.invoice;
  const label = wallet.labels.of(command.index);
  const send: RunningSend = { wallet, owner, command, paymentHash, label, isFetched };
  try {
    const [attempts] = await Promise.all([
      attemptsBefore(send),
      wallet.sendable.require(() => maxSendableMsat(owner), command),
    ]);
    const earlier = reportBefore(send, attempts);
    if (earlier) return earlier;
  } catch (error) {
    // Nothing was asked for yet.
    if (error instanceof ApiError) return notSent(send, error);
    throw error;
  }
  const params = {
    invstring: text,
    ...amount,
    maxfee: `${command.maxFeeMsat}msat`,
    retry_for: RETRY_FOR_SECS,
    label,
  };
  wallet.endings.begin(paymentHash);
  const paid = wallet.paying.begin();
  const ended: Promise<Ended> = rpc
    .begin('xpay', params, paidShape, { certainty: refusesToPay, signal: wallet.closed })
    .then(
      (paid) => ({ paid }),
      (error: unknown) => {
        if (error instanceof ApiError) return { error };
        throw error;
      },
    )
    .finally(() => {
      wallet.endings.end(paymentHash);
      paid();
    });
  const stop = new AbortController();
  const signal = AbortSignal.any([wallet.closed, stop.signal]);
  const first = await Promise.race([firstPart(send, signal), nothingSaid(signal), ended]).finally(
    () => stop.abort(),
  );
  if (first !== null && ('paid' in first || 'error' in first)) return concluded(send, first);
  void ended.then((end) => follow(send, end)).catch(() => undefined);
  return first === null ? { state: 'unknown', error: silent() } : { state: 'known', ...first };
}

/**
 * The attempts to pay the hash before the call. Throws `unreadable` for a repeat where the node may have deleted the
 * attempt of the first request: it would pay the hash once more then.
 */
async function attemptsBefore({ wallet, owner, command, paymentHash, label }: RunningSend) {
  const recent = command.isRepeat ? null : wallet.recent.take(paymentHash);
  const attempts = recent ?? (await attemptsToPay(owner, wallet, paymentHash));
  if (!command.isRepeat || sharesBy(attempts, label).own.length > 0) return attempts;
  // This is read after the list, which may have lost a row at any time before.
  if (!(await isSendListComplete(owner))) throw listNotComplete();
  return attempts;
}

/**
 * The payment once the node has recorded a part of it. Where it cannot be watched it stays pending, and the end of the
 * call alone tells. Most payments end before it asks for the first time: the node answers one call after another, so
 * each question holds up the payment itself.
 */
async function firstPart(send: RunningSend, signal: AbortSignal): Promise<Observation> {
  const { wallet, owner, paymentHash } = send;
  const never = new Promise<never>(() => undefined);
  const parts = { subsystem: 'sendpays', indexname: 'created' };
  await sleep(FIRST_ASKED_MS, signal);
  if (signal.aborted) return never;
  try {
    let { created: reached = 0 } = await owner.read('wait', { ...parts, nextvalue: 0 }, waitShape);
    for (;;) {
      const mine = ownSeen(send, await attemptsToPay(owner, wallet, paymentHash));
      if (mine) return mine;
      const next = { ...parts, nextvalue: reached + 1 };
      const { created } = await owner.poll('wait', next, waitShape, signal);
      // Without a number the node has not waited, and would be asked again at once.
      if (created === undefined) return never;
      reached = created;
    }
  } catch {
    return never;
  }
}

/** Resolves with null once the node has shown no part for as long as it may be without one. */
async function nothingSaid(signal: AbortSignal): Promise<null> {
  await sleep(FIRST_PART_WITHIN_MS, signal);
  return signal.aborted ? new Promise<never>(() => undefined) : null;
}

/** The report on a send whose call ended before a part of it was seen. */
async function concluded(send: RunningSend, end: Ended): Promise<SendReport> {
  if ('paid' in end && isOfThisCall(end.paid)) return { state: 'known', ...asPaid(send, end.paid) };
  const error = 'error' in end ? end.error : notShown();
  try {
    const attempts = await attemptsToPay(send.owner, send.wallet, send.paymentHash);
    noteEnd(send, attempts, error);
    const report = reportAfter(send, attempts, error);
    if (report) return report;
  } catch {
    // What the call itself said remains.
  }
  return callFailed(send, error);
}

async function follow(send: RunningSend, end: Ended): Promise<void> {
  const { wallet, owner, paymentHash } = send;
  if ('paid' in end && isOfThisCall(end.paid)) {
    wallet.local.publish([asPaid(send, end.paid)]);
    return;
  }
  const attempts = await attemptsToPay(owner, wallet, paymentHash);
  if ('error' in end) noteEnd(send, attempts, end.error);
  const seen = ownSeen(send, attempts);
  if (seen) {
    wallet.local.publish([seen]);
    if (isFinal(seen.payment)) return;
  }
  wallet.local.requestLook();
}

function isOwnInvoice(): ApiError {
  return refused("This invoice is the wallet's own: pay an invoice of another node.");
}

function silent(): ApiError {
  return new ApiError(
    'timeout',
    'Core Lightning was asked to pay and has not said anything since: look at the payment again.',
    { outcomeUnknown: true },
  );
}

function notShown(): ApiError {
  return new ApiError(
    'unreadable',
    'Core Lightning says that the payment is complete, but does not list it: look at the payment again.',
    { outcomeUnknown: true },
  );
}

function listNotComplete(): ApiError {
  return new ApiError(
    'unreadable',
    'Core Lightning deletes payments from its list (autoclean), so it cannot be seen whether it has made this one: look at the payment again.',
    { outcomeUnknown: true },
  );
}
