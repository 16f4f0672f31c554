import { isPreimageOf } from '../../codecs/preimage.ts';
import type { Log } from '../../lib/log.ts';
import { describedBy } from '../../model/description.ts';
import {
  idOf,
  isAwaitingApproval,
  isFinal,
  isHeld,
  LEAST_TIME_US,
  type Payment,
} from '../../model/payment.ts';
import { idOfIndex, type PaymentIndex, paymentIndex } from '../../model/payment-index.ts';
import type {
  JournalRow,
  MatchCandidates,
  ObservationRules,
  ObservedPayment,
} from '../../store/ports.ts';
import { periodStart } from '../budget/budget.ts';
import { costMsat, milestoneOf, watchesOf } from './payment-end.ts';

interface ObserveOptions {
  readonly deliver: ObservationRules['deliver'];
  readonly log: Log;
  /** Called with a payment that the node reports as completed without proof, so that health can say so. */
  readonly unproven?: (payment: Payment) => void;
  /** Called with a payment of which the node reports what contradicts the wallet's own facts, for health as well. */
  readonly contradicted?: (payment: Payment) => void;
}

/**
 * Returns the rules by which observations change payments. Nothing else changes a payment's status: it goes from
 * pending to completed or failed, and never back (docs/decisions.md 44). Observations may repeat, and may hold less
 * than the row; what they lack is kept from the row.
 */
export function observationRules(options: ObserveOptions): ObservationRules {
  return {
    deliver: options.deliver,
    atFreeIndex,
    costMsat,
    periodStart,
    watchesOf,
    milestoneOf,
    match: matchObservation,
    transition(previous, seen) {
      const { payment } = seen;
      if (isOfAnotherHash(previous, payment)) {
        options.log.error(
          'The node reports another payment hash for a payment than its own: the report is ignored.',
          { index: previous?.index ?? payment.index },
        );
        options.contradicted?.(previous ?? payment);
        return null;
      }
      if (payment.status === 'completed' && !isProven(previous, seen)) {
        options.log.error(
          'The node reports a payment as completed, but its preimage or amount does not match: the report is ignored.',
          { index: previous?.index ?? payment.index },
        );
        options.unproven?.(payment);
        return previous === null ? pendingOf(described(payment)) : null;
      }
      if (previous?.status !== 'completed' && hasImpossibleCost(previous, payment)) {
        options.log.error(
          'The node reports a cost below the amount of the payment: it counts with that amount, and with fees of at least 0.',
          { index: previous?.index ?? payment.index },
        );
        options.contradicted?.(previous ?? payment);
      }
      if (previous === null) {
        const { amountMsat, feesMsat } = boundedAmounts(null, payment);
        const preimage = payment.status === 'completed' ? payment.preimage : null;
        return { ...described(payment), amountMsat, feesMsat, preimage };
      }
      if (isFinal(previous) && payment.status !== previous.status) {
        if (isStillListed(previous, payment)) return null;
        // A node tells of a Lightning payment on several streams, so an older word may arrive last.
        if (previous.rail !== 'onchain' && payment.status === 'pending') return null;
        options.log.error(
          'The node reports a finalized payment with another status: the report is ignored.',
          {
            index: previous.index,
            status: previous.status,
            observed: payment.status,
          },
        );
        return null;
      }
      const next = merge(previous, seen);
      return differs(previous, next) ? next : null;
    },
  };
}

/**
 * Returns the row that an observation is about (docs/decisions.md 42). A row whose attempt is not known yet takes the
 * one that the node answered its own request or look-up with, or else the first attempt that is newer than all attempts
 * the node had before. Null when no row fits.
 */
export function matchObservation(
  rows: MatchCandidates,
  { payment, attempt, answers }: Pick<ObservedPayment, 'payment' | 'attempt' | 'answers'>,
): JournalRow | null {
  if (attempt === null) {
    const { sameIndex } = rows;
    if (sameIndex) return isOfHash(sameIndex, payment) ? sameIndex : null;
    // A node that tells of no attempts keeps the wallet's index with a payment, so another index is another payment.
    if (payment.direction === 'outbound' && payment.rail !== 'onchain') return null;
    const { latest } = rows;
    return latest && (!isFinal(latest.payment) || latest.payment.status === payment.status)
      ? latest
      : null;
  }
  const { sameAttempt } = rows;
  if (sameAttempt) return sameAttempt;
  if (answers && !answers.isTaken && rows.sameIndex && mayTake(rows.sameIndex, attempt)) {
    return isOfHash(rows.sameIndex, payment) ? rows.sameIndex : null;
  }
  const { latest } = rows;
  if (latest === null || !isOfAmount(payment, latest.payment)) return null;
  // What nobody asked the node for has no attempt there (docs/decisions.md 187).
  if (isAwaitingApproval(latest.payment)) return null;
  const mayBeSame = !isFinal(latest.payment) || latest.payment.status === payment.status;
  if (latest.attempt !== null) {
    return mayBeSame && isNumberedOtherwise(latest.attempt, attempt) ? latest : null;
  }
  // Rows of version 0.1 have no attempts.
  if (latest.afterAttempt === null) return mayBeSame ? latest : null;
  return !isFinal(latest.payment) && attempt > latest.afterAttempt ? latest : null;
}

/**
 * Whether the row has the number of version 0.2, LND's `payment_index`, and the observation the one of now, a time in
 * microseconds (docs/decisions.md 150). A node has one payment of a hash, so both are then about the newest.
 */
function isNumberedOtherwise(stored: number, observed: number): boolean {
  return stored < LEAST_TIME_US && observed >= LEAST_TIME_US;
}

/** Whether a row waits for its attempt, and this is not the one from before it. */
function mayTake({ payment, attempt, afterAttempt }: JournalRow, seen: number): boolean {
  return attempt === null && !isFinal(payment) && seen !== afterAttempt;
}

/** Whether an attempt pays what the wallet's own request asked for: another amount is another program's. */
export function isOfAmount(
  seen: Pick<Payment, 'amountMsat'>,
  { amountMsat }: Pick<Payment, 'amountMsat'>,
): boolean {
  return amountMsat === null || seen.amountMsat === null || seen.amountMsat === amountMsat;
}

/** Whether the payment may be that of the row: a label at the node can name any index, but no other hash. */
function isOfHash(row: JournalRow, { hash }: Payment): boolean {
  return hash === null || row.payment.hash === null || row.payment.hash === hash;
}

/** Moves a payment without a row to a free index: another attempt may be of the same moment. */
function atFreeIndex(payment: Payment, isTaken: (index: PaymentIndex) => boolean): Payment {
  let { createdAtMs, index } = payment;
  while (isTaken(index)) {
    createdAtMs += 1;
    index = paymentIndex(createdAtMs, idOf(payment));
  }
  return { ...payment, createdAtMs, index };
}

/**
 * Whether a payment that is reported as completed has proof (docs/decisions.md 43). A Lightning payment needs a
 * preimage that hashes to its payment hash; an inbound one also needs at least the invoiced amount.
 */
function isProven(
  previous: Payment | null,
  { payment, ampParts }: Pick<ObservedPayment, 'payment' | 'ampParts'>,
): boolean {
  if (payment.rail === 'onchain' || payment.direction === 'info') return true;
  // The row was proven before; a later observation may lack the preimage.
  if (previous?.status === 'completed' && payment.preimage === null) return true;
  if (payment.direction === 'inbound' && hasImpossibleCost(null, payment)) return false;
  const invoicedMsat = previous?.status === 'pending' ? previous.amountMsat : null;
  const movedMsat = (payment.amountMsat ?? 0n) + payment.feesMsat;
  if (payment.direction === 'inbound' && invoicedMsat !== null && movedMsat < invoicedMsat) {
    return false;
  }
  if (ampParts) {
    return (
      ampParts.length > 0 && ampParts.every(({ hash, preimage }) => isPreimageOf(preimage, hash))
    );
  }
  return isPreimageOf(payment.preimage, previous?.hash ?? payment.hash);
}

/**
 * Whether the node names another hash than the wallet knows the payment by (docs/decisions.md 159): that of its row, or
 * the one in its index, where Lightning payments of one hash have it.
 */
function isOfAnotherHash(previous: Payment | null, { index, hash, rail }: Payment): boolean {
  if (hash === null || rail === 'onchain') return false;
  if (previous?.hash != null) return previous.hash !== hash;
  const id = idOfIndex(index);
  return id.startsWith('ln_') && id !== `ln_${hash}`;
}

/** Whether a payment is a completed Lightning one with an amount or fees that {@link boundedAmounts} raises. */
function hasImpossibleCost(previous: Payment | null, payment: Payment): boolean {
  if (payment.status !== 'completed' || payment.rail === 'onchain') return false;
  const { amountMsat, feesMsat } = boundedAmounts(previous, payment);
  return (
    feesMsat !== payment.feesMsat ||
    (payment.amountMsat !== null && amountMsat !== payment.amountMsat)
  );
}

/**
 * Amount and fees that a report may put into the row, in millisatoshis (docs/decisions.md 159): neither is negative,
 * and what was sent is not below the amount of the invoice or command, which the row has from the start.
 */
function boundedAmounts(
  previous: Payment | null,
  { direction, amountMsat: seenMsat, feesMsat }: Payment,
): Pick<Payment, 'amountMsat' | 'feesMsat'> {
  const ownMsat = previous?.amountMsat ?? null;
  const amountMsat = seenMsat ?? ownMsat;
  const leastMsat = direction === 'outbound' ? (ownMsat ?? 0n) : 0n;
  return {
    amountMsat: amountMsat === null ? null : atLeast(leastMsat, amountMsat),
    feesMsat: atLeast(0n, feesMsat),
  };
}

function atLeast(least: bigint, value: bigint): bigint {
  return value < least ? least : value;
}

/** A payment without a row, with the description in its invoice, which is read here alone (docs/decisions.md 183). */
function described(payment: Payment): Payment {
  return { ...payment, description: payment.description ?? describedBy(payment.invoice) };
}

/** A payment without a row that is reported as completed without proof becomes a pending payment. */
function pendingOf(payment: Payment): Payment {
  return {
    ...payment,
    ...boundedAmounts(null, payment),
    status: 'pending',
    statusMsg: 'not proven by the node',
    preimage: null,
    finalizedAtMs: null,
  };
}

/** LND lists a transaction that was replaced as an unconfirmed one until LND restarts. */
function isStillListed(previous: Payment, seen: Payment): boolean {
  return previous.rail === 'onchain' && previous.status === 'failed' && seen.status === 'pending';
}

/**
 * The row, updated with what the node reports. Index, creation time, description and the wallet's own words stay those
 * of the row, and the row's values fill what the report lacks.
 */
function merge(previous: Payment, { payment: seen, inBlock, answers }: ObservedPayment): Payment {
  const isTaken = answers?.isTaken === true && answers.index === previous.index;
  return {
    ...seen,
    ...boundedAmounts(previous, seen),
    index: previous.index,
    statusMsg: keepsStatusMsg(previous, seen) ? previous.statusMsg : seen.statusMsg,
    createdAtMs: previous.createdAtMs,
    personalNote: previous.personalNote ?? seen.personalNote,
    description: previous.description ?? seen.description,
    externalId: previous.externalId ?? seen.externalId,
    // What another program has paid refunds nothing, and has no price of ours.
    refundOf: isTaken ? null : (previous.refundOf ?? seen.refundOf),
    price: isTaken ? null : (previous.price ?? seen.price),
    hash: previous.hash ?? seen.hash,
    // A preimage is shown only after the payment is proven (docs/decisions.md 43).
    preimage:
      seen.status === 'completed' ? (seen.preimage ?? previous.preimage) : previous.preimage,
    offerId: seen.offerId ?? previous.offerId,
    txid: seen.txid ?? previous.txid,
    // A reorganization may have removed the other transaction from the chain.
    replacement: inBlock ? null : (seen.replacement ?? previous.replacement),
    partnerPk: seen.partnerPk ?? previous.partnerPk,
    partnerPropFeePpm: seen.partnerPropFeePpm ?? previous.partnerPropFeePpm,
    partnerBaseFeeMsat: seen.partnerBaseFeeMsat ?? previous.partnerBaseFeeMsat,
    address: seen.address ?? previous.address,
    invoice: seen.invoice ?? previous.invoice,
    tx: seen.tx ?? previous.tx,
    payerName: seen.payerName ?? previous.payerName,
    message: seen.message ?? previous.message,
    priority: seen.priority ?? previous.priority,
    expiresAtMs: seen.expiresAtMs ?? previous.expiresAtMs,
    finalizedAtMs: isFinal(previous) ? previous.finalizedAtMs : seen.finalizedAtMs,
  };
}

/**
 * The reason why a payment ended does not change, even if the node reports another one later. What is held is held
 * until it ends: a report that it has not arrived is an old one.
 */
function keepsStatusMsg(previous: Payment, seen: Payment): boolean {
  return isFinal(previous) || (isHeld(previous) && !isFinal(seen));
}

function differs(a: Payment, b: Payment): boolean {
  return (Object.keys(a) as (keyof Payment)[]).some(
    (field) => field !== 'updatedAtMs' && field !== 'tx' && a[field] !== b[field],
  );
}
