import type { z } from 'zod';
import { sleep } from '../../lib/sleep.ts';
import { ApiError, refused } from '../../model/errors.ts';
import { isFinal } from '../../model/payment.ts';
import type { Observation } from '../node-observations.ts';
import type { PayFetchedCommand, PayInvoiceCommand, SendReport } from '../node-sends.ts';
import { asBegun } from '../remote/as-begun.ts';
import { reportOf } from '../remote/send-report.ts';
import { failureBy, isOfXpay, refusesToPay } from './certainty.ts';
import { isListed } from './invoices.ts';
import { labelOf } from './labels.ts';
import { codeOf } from './refusal.ts';
import type { ClnRpc } from './rpc.ts';
import { maxSendableMsat } from './sendable.ts';
import { attemptsToPay, labeled } from './sends.ts';
import { outboundObservation, type SendAttempt } from './translate.ts';
import type { ClnWallet } from './wallet.ts';
import { type ClnSendpay, paidShape, waitShape } from './wire.ts';

/** Seconds in which the node may begin new attempts; parts on their way may take longer to end. */
const RETRY_FOR_SECS = 60;

/** How long a payment is under way before the node is asked whether it has recorded a part of it. */
const FIRST_ASKED_MS = 250;

/** What `xpay` answers of a payment that is complete. */
type Paid = z.output<typeof paidShape>;

/** How a call of `xpay` ended. */
type Ended = { readonly paid: Paid } | { readonly error: ApiError };

/** An order to pay an invoice, with the amount that the payee is to get. */
type SendOrder = PayInvoiceCommand | (PayFetchedCommand & { readonly amountMsat: bigint });

/** A payment that `xpay` makes, and how it ended for this process. */
interface RunningSend {
  readonly wallet: ClnWallet;
  readonly owner: ClnRpc;
  readonly command: SendOrder;
  readonly paymentHash: string;
  readonly label: string;
  /** Whether the invoice was fetched for this payment alone. */
  readonly isFetched: boolean;
}

/** Starts paying an invoice of BOLT 11; see {@link startPayment}. The wallet's own invoice is refused. */
export async function payInvoice(
  rpc: ClnRpc,
  owner: ClnRpc,
  wallet: ClnWallet,
  command: PayInvoiceCommand,
): Promise<SendReport> {
  const { amountMsat, payeePubkey } = command.invoice;
  // Core Lightning would pay it within itself, and the two payments would have one index.
  if (payeePubkey === wallet.nodePk) return { state: 'refused', error: isOwnInvoice() };
  const amount = amountMsat === null ? { amount_msat: `${command.amountMsat}msat` } : {};
  return startPayment(rpc, owner, wallet, command, { amount, isFetched: false });
}

/**
 * Starts paying an invoice that was fetched for an offer; see {@link startPayment}. An attempt of another index to pay
 * it is in the way: the report is `refused`, as it is for an invoice of the wallet's own offer.
 */
export async function payFetched(
  rpc: ClnRpc,
  owner: ClnRpc,
  wallet: ClnWallet,
  command: PayFetchedCommand,
): Promise<SendReport> {
  const { amountMsat, paymentHash } = command.invoice;
  try {
    if (await isListed(owner, paymentHash)) return { state: 'refused', error: isOwnInvoice() };
  } catch (error) {
    // Nothing was asked for yet.
    if (error instanceof ApiError) return { state: 'refused', error };
    throw error;
  }
  return startPayment(
    rpc,
    owner,
    wallet,
    { ...command, amountMsat },
    { amount: {}, isFetched: true },
  );
}

/**
 * Starts paying an invoice and returns once the node has recorded a part of it. The node keeps the payment's index as
 * its label. What becomes of it is published to the feed; when the connection breaks, the node goes on, and the payment
 * is looked up by its hash. Every payment has a fee limit.
 */
async function startPayment(
  rpc: ClnRpc,
  owner: ClnRpc,
  wallet: ClnWallet,
  command: SendOrder,
  { amount, isFetched }: { readonly amount: { amount_msat?: string }; readonly isFetched: boolean },
): Promise<SendReport> {
  const { text, paymentHash } = command.invoice;
  const label = labelOf(command.index);
  const send: RunningSend = { wallet, owner, command, paymentHash, label, isFetched };
  try {
    const [attempts] = await Promise.all([
      wallet.recent.take(paymentHash) ?? attemptsToPay(owner, paymentHash),
      wallet.sendable.require(() => maxSendableMsat(owner), command.amountMsat),
    ]);
    const earlier = attempts.find(isInTheWay);
    if (earlier) return reportOn(send, earlier);
  } catch (error) {
    // Nothing was asked for yet.
    if (error instanceof ApiError) return { state: 'refused', error };
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
  const ended: Promise<Ended> = rpc
    .begin('xpay', params, paidShape, { certainty: refusesToPay, signal: wallet.closed })
    .then(
      (paid) => ({ paid }),
      (error: unknown) => {
        if (error instanceof ApiError) return { error };
        throw error;
      },
    )
    .finally(() => wallet.endings.end(paymentHash));
  const stop = new AbortController();
  const first = await Promise.race([
    firstPart(send, AbortSignal.any([wallet.closed, stop.signal])),
    ended,
  ]).finally(() => stop.abort());
  if ('paid' in first || 'error' in first) return concluded(send, first);
  void ended.then((end) => follow(send, end)).catch(() => undefined);
  return { state: 'known', ...asBegun(first, command) };
}

/**
 * The report on an attempt that the node makes or has made of the hash. One of another index is that payment too,
 * unless the invoice was fetched for this payment alone.
 */
function reportOn(send: RunningSend, attempt: SendAttempt): SendReport {
  const { command, label, isFetched } = send;
  const isMine = attempt.parts.some((part) => part.label === label);
  if (isFetched && !isMine) return { state: 'refused', error: paidByAnother() };
  return { state: 'known', ...asBegun(observed(send, attempt), command) };
}

/** Whether another attempt of the hash is pending or completed, so that the node would make no other. */
function isInTheWay({ parts }: SendAttempt): boolean {
  return parts.some(({ status }) => status !== 'failed');
}

/**
 * The payment once the node has recorded a part of it. Where it cannot be watched it stays pending, and the end of the
 * call alone tells. Most payments end before it asks for the first time: the node answers one call after another, so
 * each question holds up the payment itself.
 */
async function firstPart(send: RunningSend, signal: AbortSignal): Promise<Observation> {
  const { owner, paymentHash, label } = send;
  const never = new Promise<never>(() => undefined);
  const parts = { subsystem: 'sendpays', indexname: 'created' };
  await sleep(FIRST_ASKED_MS, signal);
  if (signal.aborted) return never;
  try {
    let { created: reached = 0 } = await owner.read('wait', { ...parts, nextvalue: 0 }, waitShape);
    for (;;) {
      const mine = labeled(await attemptsToPay(owner, paymentHash), label);
      if (mine) return observed(send, mine);
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

/** The report on a send whose call ended before a part of it was seen. */
async function concluded(send: RunningSend, end: Ended): Promise<SendReport> {
  const { owner, paymentHash, label, command, isFetched } = send;
  // An invoice that was fetched for this payment may have been paid by another one, which only the list tells.
  if ('paid' in end && !isFetched) return { state: 'known', ...asPaid(send, end.paid) };
  const error = 'error' in end ? end.error : null;
  try {
    const attempts = await attemptsToPay(owner, paymentHash);
    const mine = labeled(attempts, label);
    if (mine) {
      noteEnd(send, mine, error);
      return { state: 'known', ...asBegun(observed(send, mine), command) };
    }
    const other = attempts.find(isInTheWay);
    if (other) return reportOn(send, other);
  } catch {
    // What the call itself said remains.
  }
  return error === null ? { state: 'unknown', error: notShown() } : reportOf(error);
}

/** Publishes what became of a send after its call has ended. */
async function follow(send: RunningSend, end: Ended): Promise<void> {
  const { wallet, owner, paymentHash, label, command } = send;
  if ('paid' in end) {
    wallet.local.publish([asPaid(send, end.paid)]);
    return;
  }
  const mine = labeled(await attemptsToPay(owner, paymentHash), label);
  if (mine) {
    noteEnd(send, mine, end.error);
    const seen = asBegun(observed(send, mine), command);
    wallet.local.publish([seen]);
    if (isFinal(seen.payment)) return;
  }
  wallet.local.requestLook();
}

/**
 * Notes that the node tries no other route. An error of the node says so only where one part carried the whole amount:
 * parts beside each other may still leave after the answer.
 */
function noteEnd(
  { wallet, command }: RunningSend,
  { hash, groupId, parts }: SendAttempt,
  error: ApiError | null,
): void {
  const code = codeOf(error);
  if (code === null || !isOfXpay(code)) return;
  const wereWhole = parts.every(({ amount_msat }) => (amount_msat ?? 0n) >= command.amountMsat);
  if (wereWhole) wallet.endings.gaveUp(hash, groupId, failureBy(code));
}

/** The payment as the answer of `xpay` tells it: complete, with its preimage, and with what its parts carried. */
function asPaid(
  { wallet, command, paymentHash, label, isFetched }: RunningSend,
  { payment_preimage, amount_msat, amount_sent_msat }: Paid,
): Observation {
  const { text } = command.invoice;
  const whole: ClnSendpay = {
    created_index: 0,
    updated_index: 0,
    payment_hash: paymentHash,
    groupid: 0,
    partid: 0,
    status: 'complete',
    created_at: Math.floor(command.createdAtMs / 1000),
    payment_preimage,
    amount_msat,
    amount_sent_msat,
    label,
    ...(isFetched ? { bolt12: text } : { bolt11: text }),
  };
  const attempt = { hash: paymentHash, groupId: whole.groupid, parts: [whole] } as const;
  const nowMs = wallet.clock.now();
  return asBegun(outboundObservation(attempt, { nowMs, failure: null }), command);
}

function observed({ wallet }: RunningSend, attempt: SendAttempt): Observation {
  const failure = wallet.endings.failureOf(attempt);
  return outboundObservation(attempt, { nowMs: wallet.clock.now(), failure });
}

function notShown(): ApiError {
  return new ApiError(
    'unreadable',
    'Core Lightning says that the payment is complete, but does not list it: look at the payment again.',
    { outcomeUnknown: true },
  );
}

function isOwnInvoice(): ApiError {
  return refused("This invoice is the wallet's own: pay an invoice of another node.");
}

function paidByAnother(): ApiError {
  return refused('This invoice belongs to another payment: fetch a new one for the offer.');
}
