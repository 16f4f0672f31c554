import type { z } from 'zod';
import { type ApiError, refused } from '../../../model/errors.ts';
import type { Payment } from '../../../model/payment.ts';
import type { Observation } from '../../node-observations.ts';
import type { PayFetchedCommand, PayInvoiceCommand, SendReport } from '../../node-sends.ts';
import { invoiceOfAnother } from '../../refusals.ts';
import { asBegun, reportOf } from '../../remote/orders/sends.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnWallet } from '../reads/wallet.ts';
import {
  exceedsFeeLimit,
  failureBy,
  gaveWay,
  isOfXpay,
  noRouteWithin,
} from '../words/certainty.ts';
import { refusalIn } from '../words/refusal.ts';
import { hasLostPart, hasOnlyFailed, type SendAttempt } from '../words/translate.ts';
import type { ClnSendpay, paidShape } from '../words/wire.ts';
import { attemptSeen, together } from './seen-sends.ts';
import { foremost, isPaid, sharesBy } from './sends.ts';

/** What is known of a payment that `xpay` makes, and what that means. Whose an attempt is, its label alone says. */

/** What `xpay` answers of a payment that is complete. */
type Paid = z.output<typeof paidShape>;

/** How a call of `xpay` ended. */
export type Ended = { readonly paid: Paid } | { readonly error: ApiError };

/** An order to pay an invoice, with the amount that the payee is to get. */
export type SendOrder = PayInvoiceCommand | (PayFetchedCommand & { readonly amountMsat: bigint });

/** A payment as the wallet began it, and the label by which the node knows it. */
interface OwnSend {
  readonly wallet: ClnWallet;
  readonly command: Pick<Payment, 'index' | 'createdAtMs' | 'amountMsat'>;
  readonly label: string;
}

/** A payment that `xpay` makes. */
export interface RunningSend extends OwnSend {
  readonly owner: ClnRpc;
  readonly command: SendOrder;
  readonly paymentHash: string;
  /** Whether the invoice was fetched for this payment alone. */
  readonly isFetched: boolean;
}

/**
 * The report that the attempts give before the call: `known` with an own one, whatever has become of it, and else the
 * one of another program that is in the way. Null where the call may be made.
 */
export function reportBefore(
  send: RunningSend,
  attempts: readonly SendAttempt[],
): SendReport | null {
  const mine = ownSeen(send, attempts);
  if (mine) return { state: 'known', ...mine };
  if (attempts.some(hasLostPart)) return notSent(send, neverPaid());
  const other = foremost(sharesBy(attempts, send.label).others);
  if (other === undefined || hasOnlyFailed(other)) return null;
  return reportOnOther(send, other, { madeNone: true }) ?? notSent(send, anotherIsPending());
}

/** The report that the attempts give after the call ended with an error; null where the error alone counts. */
export function reportAfter(
  send: RunningSend,
  attempts: readonly SendAttempt[],
  error: ApiError,
): SendReport | null {
  const mine = ownSeen(send, attempts);
  if (mine) return { state: 'known', ...mine };
  const other = foremost(sharesBy(attempts, send.label).others);
  if (other === undefined) return null;
  const refusal = refusalIn(error);
  const hasGivenWay = refusal !== null && gaveWay(refusal);
  // The attempt to which it gave way may have failed meanwhile. Failed ones are in the way of no other call.
  if (hasOnlyFailed(other) && !hasGivenWay) return null;
  return reportOnOther(send, other, { madeNone: hasGivenWay || !error.outcomeUnknown });
}

/**
 * The report on an attempt of another program that is in the way. While that one is not paid, only a payment that has
 * certainly made no attempt is answered by it, else it is null. A repeat may say that of itself alone.
 */
function reportOnOther(
  send: RunningSend,
  other: SendAttempt,
  { madeNone }: { readonly madeNone: boolean },
): SendReport | null {
  if (!isPaid(other) && (!madeNone || send.command.isRepeat)) return null;
  if (send.isFetched) return notSent(send, invoiceOfAnother());
  return { state: 'taken', ...otherSeen(send.wallet, other) };
}

/** The report on a call that `error` has ended without an attempt; in the words of this API where it is known why. */
export function callFailed(send: RunningSend, error: ApiError): SendReport {
  const refusal = refusalIn(error);
  if (error.outcomeUnknown || refusal === null || !exceedsFeeLimit(refusal)) {
    return notSent(send, error);
  }
  const reason = noRouteWithin(send.command.maxFeeMsat);
  return notSent(
    send,
    refused(`Core Lightning found ${reason}: allow more with max_fee, and pay again.`, refusal),
  );
}

/** The report on a request that `error` has ended. A repeat is never refused: the first request may be at the node. */
export function notSent(
  { command }: { readonly command: Pick<SendOrder, 'isRepeat'> },
  error: ApiError,
): SendReport {
  return command.isRepeat ? { state: 'unknown', error } : reportOf(error);
}

/** The payment as its own attempts show it; null where there is none. `attempts` are all of its hash. */
export function ownSeen(
  { wallet, command, label }: OwnSend,
  attempts: readonly SendAttempt[],
): Observation | null {
  const isHashPaid = attempts.some(isPaid);
  const seen = sharesBy(attempts, label)
    .own.map((attempt) => attemptSeen(attempt, { isHashPaid }, wallet))
    .reduce<Observation | undefined>(together, undefined);
  return seen === undefined ? null : asBegun(seen, command);
}

/** Another program's attempt, under the identity that the feed gives it. */
export function otherSeen(wallet: ClnWallet, attempt: SendAttempt): Observation {
  return attemptSeen(attempt, { isHashPaid: isPaid(attempt) }, wallet);
}

/** Whether the answer of `xpay` tells of an attempt that this call has made, and of no earlier one (plugins/xpay). */
export function isOfThisCall({ successful_parts }: Paid): boolean {
  return successful_parts > 0;
}

/** The payment as the answer of `xpay` tells it: complete, with its preimage, and with what its parts carried. */
export function asPaid(
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
  return asBegun(otherSeen(wallet, attempt), command);
}

/**
 * Notes that the node tries no other route. An error of the node says so only where one part carried the whole amount:
 * parts beside each other may still leave after the answer. The error of a repeat says nothing of an attempt that the
 * first request may have made.
 */
export function noteEnd(
  { wallet, command, label }: RunningSend,
  attempts: readonly SendAttempt[],
  error: ApiError,
): void {
  const refusal = refusalIn(error);
  if (refusal?.code == null || !isOfXpay(refusal.code) || command.isRepeat) return;
  for (const { hash, groupId, parts } of sharesBy(attempts, label).own) {
    const wereWhole = parts.every(({ amount_msat }) => (amount_msat ?? 0n) >= command.amountMsat);
    if (wereWhole) wallet.endings.gaveUp(hash, groupId, failureBy(refusal, command.maxFeeMsat));
  }
}

function neverPaid(): ApiError {
  return refused(
    'Core Lightning has lost a payment of this invoice when it was stopped, and never pays the invoice again: ask for a new one.',
  );
}

function anotherIsPending(): ApiError {
  return refused('Another payment of this invoice is on its way: look at the payment again.');
}
