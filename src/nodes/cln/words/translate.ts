import { amountMsatOf, timestampOf } from '../../../codecs/bolt11/index.ts';
import { type Bolt12Invoice, decodeInvoice } from '../../../codecs/bolt12/index.ts';
import { readOr } from '../../../codecs/codec-error.ts';
import { describedBy } from '../../../model/description.ts';
import type { Payment } from '../../../model/payment.ts';
import {
  createdAtOfIndex,
  type PaymentId,
  type PaymentIndex,
  paymentId,
  paymentIndex,
} from '../../../model/payment-index.ts';
import type { Observation } from '../../node-observations.ts';
import { encodedExpiryMs } from '../../remote/orders/encoded-expiry.ts';
import { COMPLETED, shownPayment } from '../../shown-payment.ts';
import { ownIndexOf, type SendLabels } from './labels.ts';
import type { ClnInvoice, ClnSendpay } from './wire.ts';

/** Translates rows of Core Lightning into payments; pure. Times that are later than `nowMs` are replaced by it. */

/** Beginning of the label that the node gives to a payment without an invoice. */
const KEYSEND_LABEL = /^keysend-\d+\.\d+$/;
const KEYSEND_DESCRIPTION = /^keysend(?:: ([\s\S]*))?$/;

/**
 * The observation of an incoming payment. Null for an invoice that an offer's payer asked for and has not paid, since
 * everybody who knows the offer can ask for any number of them.
 */
export function inboundObservation(invoice: ClnInvoice, nowMs: number): Observation | null {
  const { status, local_offer_id, payment_hash } = invoice;
  if (local_offer_id !== undefined && status !== 'paid') return null;
  const message = keysendMessage(invoice);
  const rail = railOf(invoice, message !== null);
  const paidAtMs = Math.min((invoice.paid_at ?? 0) * 1000, nowMs);
  const { index, createdAtMs } = identity(
    ownIndexOf(invoice),
    Math.min(createdAtMsOf(invoice) ?? paidAtMs, nowMs),
    paymentId(rail === 'offer' ? 'fr' : 'ln', payment_hash),
  );
  return {
    attempt: null,
    payment: shownPayment({
      index,
      rail,
      direction: 'inbound',
      createdAtMs,
      ...invoiceOutcome(invoice, Math.max(paidAtMs, createdAtMs)),
      hash: payment_hash,
      preimage: status === 'paid' ? (invoice.payment_preimage ?? null) : null,
      offerId: local_offer_id ?? null,
      amountMsat: (status === 'paid' ? invoice.amount_received_msat : invoice.amount_msat) ?? null,
      invoice: rail === 'invoice' ? (invoice.bolt11 ?? null) : null,
      description: describedBy(invoice.bolt12 ?? null),
      message: message || (invoice.invreq_payer_note ?? null),
      expiresAtMs: rail === 'spontaneous' ? null : ownExpiryMs(invoice),
    }),
  };
}

/** The index and creation time of a payment: those of this program, or else those that the node shows. */
function identity(
  ownIndex: PaymentIndex | null,
  shownAtMs: number,
  id: PaymentId,
): Pick<Payment, 'index' | 'createdAtMs'> {
  if (ownIndex === null) return { index: paymentIndex(shownAtMs, id), createdAtMs: shownAtMs };
  return { index: ownIndex, createdAtMs: createdAtOfIndex(ownIndex) };
}

/** When an invoice expires: the time that it encodes (docs/decisions.md 27), else what the node states. */
function ownExpiryMs({ bolt11, bolt12, expires_at }: ClnInvoice): number {
  return expiryOf(bolt11, bolt12Of(bolt12)) ?? expires_at * 1000;
}

function railOf({ local_offer_id }: ClnInvoice, isKeysend: boolean): Payment['rail'] {
  if (local_offer_id !== undefined) return 'offer';
  return isKeysend ? 'spontaneous' : 'invoice';
}

/**
 * The message of a payment without an invoice, empty without one; null where the row is of an invoice. Core Lightning
 * records such a payment as an invoice of its own, with a label and a description of this form.
 */
function keysendMessage({ label, description, status }: ClnInvoice): string | null {
  if (status !== 'paid' || !KEYSEND_LABEL.test(label)) return null;
  const [whole, message = ''] = KEYSEND_DESCRIPTION.exec(description ?? '') ?? [];
  return whole === undefined ? null : message;
}

/** When the invoice was made, as it encodes it; null where it cannot be read. */
function createdAtMsOf({ bolt11, bolt12 }: ClnInvoice): number | null {
  if (bolt11 !== undefined) {
    return readOr(
      () => timestampOf(bolt11) * 1000,
      () => null,
    );
  }
  const invoice = bolt12Of(bolt12);
  return invoice && invoice.createdAtSecs * 1000;
}

function bolt12Of(text: string | undefined): Bolt12Invoice | null {
  if (text === undefined) return null;
  return readOr(
    () => decodeInvoice(text),
    () => null,
  );
}

function invoiceOutcome(
  { status, expires_at }: ClnInvoice,
  paidAtMs: number,
): Pick<Payment, 'status' | 'statusMsg' | 'finalizedAtMs'> {
  switch (status) {
    case 'paid':
      return { ...COMPLETED, finalizedAtMs: paidAtMs };
    case 'expired':
      return { status: 'failed', statusMsg: 'expired', finalizedAtMs: expires_at * 1000 };
    case 'unpaid':
      return { status: 'pending', statusMsg: 'invoice generated', finalizedAtMs: null };
  }
}

/** One part of an attempt. A lost one counts as failed, and keeps the node from paying the hash for ever. */
export type SendPart = ClnSendpay & { readonly isLost?: true };

/** One attempt to pay a hash, with its parts in the order in which they were made. */
export interface SendAttempt {
  readonly hash: string;
  readonly groupId: number;
  readonly parts: readonly [SendPart, ...SendPart[]];
}

/** Groups parts into attempts, in the order of their first parts. */
export function attemptsOf(rows: readonly SendPart[]): SendAttempt[] {
  const attempts = new Map<string, [SendPart, ...SendPart[]]>();
  for (const row of rows.toSorted((a, b) => a.created_index - b.created_index)) {
    const key = `${row.payment_hash} ${row.groupid}`;
    const parts = attempts.get(key);
    if (parts) parts.push(row);
    else attempts.set(key, [row]);
  }
  return [...attempts.values()].map((parts) => ({
    hash: parts[0].payment_hash,
    groupId: parts[0].groupid,
    parts,
  }));
}

/** Whether every part has failed so far. The node may be about to try another route all the same. */
export function hasOnlyFailed({ parts }: SendAttempt): boolean {
  return parts.every(({ status }) => status === 'failed');
}

/** Whether the node has lost a part of it; see {@link LostParts}. */
export function hasLostPart({ parts }: SendAttempt): boolean {
  return parts.some(({ isLost }) => isLost);
}

/** Whether its parts have delivered all that the invoice asks for, so that no other part of it can be under way. */
export function hasPaidAll({ parts }: SendAttempt): boolean {
  const complete = parts.filter(({ status }) => status === 'complete');
  if (complete.length === 0 || parts.some(({ status }) => status === 'pending')) return false;
  const owedMsat = owedOf(parts[0]);
  return owedMsat !== null && deliveredOf(complete) >= owedMsat;
}

/** What the invoice of a part asks for; null where it names no amount, or cannot be read. */
function owedOf({ bolt11, bolt12 }: ClnSendpay): bigint | null {
  if (bolt11 === undefined) return bolt12Of(bolt12)?.amountMsat ?? null;
  return readOr(
    () => amountMsatOf(bolt11),
    () => null,
  );
}

function deliveredOf(parts: readonly ClnSendpay[]): bigint {
  return parts.reduce((sum, part) => sum + (part.amount_msat ?? 0n), 0n);
}

interface Known {
  readonly nowMs: number;
  /** Why the payment failed, once it is certain that the node tries no further; null before. */
  readonly failure: string | null;
  readonly labels: SendLabels;
}

/** The observation of an outgoing payment: one attempt with all its parts. */
export function outboundObservation(
  attempt: SendAttempt,
  { nowMs, failure, labels }: Known,
): Observation {
  const { hash, parts } = attempt;
  const [first] = parts;
  const { index, createdAtMs } = identity(
    labels.indexOf(first),
    Math.min(first.created_at * 1000, nowMs),
    paymentId(first.bolt12 === undefined ? 'ln' : 'fs', hash),
  );
  const complete = parts.find(({ status }) => status === 'complete');
  const failed = complete === undefined && hasOnlyFailed(attempt) ? failure : null;
  const ended = parts.map(({ completed_at }) => (completed_at ?? 0) * 1000);
  // The node tells whole seconds.
  const endedAtMs = Math.max(Math.min(Math.max(...ended) || nowMs, nowMs), createdAtMs);
  const counted = parts.filter(({ status }) => status !== 'failed');
  const sentMsat = counted.reduce((sum, part) => sum + part.amount_sent_msat, 0n);
  const deliveredMsat = deliveredOf(counted);
  const offer = bolt12Of(first.bolt12);
  const isFinal = complete !== undefined || failed !== null;
  return {
    attempt: null,
    payment: shownPayment({
      index,
      rail: railOfSend(first),
      direction: 'outbound',
      ...statusBy(complete !== undefined, failed),
      createdAtMs,
      hash,
      preimage: complete?.payment_preimage ?? null,
      offerId: offer?.offerId ?? null,
      // While parts are still tried, the sum is not the payment's amount yet.
      amountMsat: complete && deliveredMsat > 0n ? deliveredMsat : (offer?.amountMsat ?? null),
      feesMsat: complete ? sentMsat - deliveredMsat : 0n,
      invoice: first.bolt11 ?? null,
      description: describedBy(first.bolt12 ?? null),
      message: offer?.payerNote ?? null,
      expiresAtMs: expiryOf(first.bolt11, offer),
      finalizedAtMs: isFinal ? endedAtMs : null,
    }),
  };
}

function statusBy(isComplete: boolean, failed: string | null) {
  if (isComplete) return COMPLETED;
  return failed === null ? {} : ({ status: 'failed', statusMsg: failed } as const);
}

function railOfSend({ bolt11, bolt12 }: ClnSendpay): Payment['rail'] {
  if (bolt12 !== undefined) return 'offer';
  return bolt11 === undefined ? 'spontaneous' : 'invoice';
}

function expiryOf(bolt11: string | undefined, offer: Bolt12Invoice | null): number | null {
  if (offer !== null) return offer.expiresAtSecs * 1000;
  return bolt11 === undefined ? null : encodedExpiryMs(bolt11);
}
