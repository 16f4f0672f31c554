import { sha256 } from '@noble/hashes/sha2.js';
import { hex } from '@scure/base';
import type { Log } from '../lib/log.ts';
import { isFinal, type Payment } from '../model/payment.ts';
import type {
  JournalRow,
  MatchCandidates,
  ObservationRules,
  ObservedPayment,
} from '../store/ports.ts';
import { costMsat, watchesOf } from './payment-end.ts';

/** Thrown instead of logged where tests ask for it: a payment left a terminal state. */
export class TerminalStateLeft extends Error {
  override readonly name = 'TerminalStateLeft';
}

interface ObserveOptions {
  readonly deliver: ObservationRules['deliver'];
  readonly log: Log;
  /** Whether leaving a terminal state throws (tests) or is logged and ignored (production). */
  readonly strict: boolean;
  /** Told of a payment that the node calls completed without proof; for health. */
  readonly unproven?: (payment: Payment) => void;
}

/**
 * The only place where a payment changes status: pending to completed or failed, and never back (contract, Payment
 * status). Observations may repeat and may know less than we do; what the node does not know is kept.
 */
export function observationRules(options: ObserveOptions): ObservationRules {
  return {
    deliver: options.deliver,
    costMsat,
    watchesOf,
    match: matchObservation,
    transition(previous, seen) {
      const { payment } = seen;
      if (payment.status === 'completed' && !isProven(previous, seen)) {
        options.log.error(
          'The node calls a payment completed, but its preimage or amount does not fit; ignored.',
          { index: previous?.index ?? payment.index },
        );
        options.unproven?.(payment);
        return previous === null ? pendingOf(payment) : null;
      }
      if (previous === null) {
        return payment.status === 'completed' ? payment : { ...payment, preimage: null };
      }
      if (isFinal(previous) && payment.status !== previous.status) {
        const message = `${previous.index} is ${previous.status} and was observed ${payment.status}`;
        if (options.strict) throw new TerminalStateLeft(message);
        options.log.error('A finalized payment was observed in another state; ignored.', {
          index: previous.index,
          status: previous.status,
          observed: payment.status,
        });
        return null;
      }
      const next = merge(previous, payment);
      return differs(previous, next) ? next : null;
    },
  };
}

/**
 * The row that an observation is about (decisions section 5: an observation belongs to one attempt). A row that was
 * asked for and whose attempt is not known yet takes the first attempt that is newer than all that were there before.
 */
export function matchObservation(
  rows: MatchCandidates,
  { payment, attempt }: Pick<ObservedPayment, 'payment' | 'attempt'>,
): JournalRow | null {
  if (attempt === null) {
    const { sameIndex } = rows;
    if (sameIndex) return sameIndex;
    const { latest } = rows;
    return latest && (!isFinal(latest.payment) || latest.payment.status === payment.status)
      ? latest
      : null;
  }
  const { sameAttempt } = rows;
  if (sameAttempt) return sameAttempt;
  const { latest } = rows;
  if (latest === null || latest.attempt !== null) return null;
  if (latest.afterAttempt === null) {
    // Rows of the first version know no attempts.
    return !isFinal(latest.payment) || latest.payment.status === payment.status ? latest : null;
  }
  return !isFinal(latest.payment) && attempt > latest.afterAttempt ? latest : null;
}

/**
 * Whether a completed payment shows what it must (decisions section 5): a Lightning payment a preimage that hashes to
 * the payment hash, a received one at least the invoiced amount as well.
 */
function isProven(
  previous: Payment | null,
  { payment, ampParts }: Pick<ObservedPayment, 'payment' | 'ampParts'>,
): boolean {
  if (payment.rail === 'onchain' || payment.direction === 'info') return true;
  // It was proven before; what is observed again may know less.
  if (previous?.status === 'completed' && payment.preimage === null) return true;
  const invoicedMsat = previous?.status === 'pending' ? previous.amountMsat : null;
  const movedMsat = (payment.amountMsat ?? 0n) + payment.feesMsat;
  if (payment.direction === 'inbound' && invoicedMsat !== null && movedMsat < invoicedMsat) {
    return false;
  }
  if (ampParts) {
    return ampParts.length > 0 && ampParts.every(({ hash, preimage }) => fits(preimage, hash));
  }
  const hash = payment.hash ?? previous?.hash ?? null;
  return hash !== null && payment.preimage !== null && fits(payment.preimage, hash);
}

function fits(preimage: string, hash: string): boolean {
  try {
    return hex.encode(sha256(hex.decode(preimage))) === hash;
  } catch {
    return false;
  }
}

/** A payment that is first heard of as completed and is not proven: it is not over for us. */
function pendingOf(payment: Payment): Payment {
  return {
    ...payment,
    status: 'pending',
    statusMsg: 'not proven by the node',
    preimage: null,
    finalizedAtMs: null,
  };
}

/** What the node says, over what this program knows: identity and note are ours, gaps are filled from before. */
function merge(previous: Payment, seen: Payment): Payment {
  return {
    ...seen,
    index: previous.index,
    // What ended a payment does not change afterwards, whatever the node calls it later.
    statusMsg: isFinal(previous) ? previous.statusMsg : seen.statusMsg,
    createdAtMs: previous.createdAtMs,
    personalNote: previous.personalNote ?? seen.personalNote,
    hash: seen.hash ?? previous.hash,
    // A preimage is shown once the payment is proven, and not before (decisions section 5).
    preimage:
      seen.status === 'completed' ? (seen.preimage ?? previous.preimage) : previous.preimage,
    offerId: seen.offerId ?? previous.offerId,
    txid: seen.txid ?? previous.txid,
    replacement: seen.replacement ?? previous.replacement,
    amountMsat: seen.amountMsat ?? previous.amountMsat,
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

function differs(a: Payment, b: Payment): boolean {
  return (Object.keys(a) as (keyof Payment)[]).some(
    (field) => field !== 'updatedAtMs' && field !== 'tx' && a[field] !== b[field],
  );
}
