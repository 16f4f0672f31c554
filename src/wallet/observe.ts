import type { Log } from '../lib/log.ts';
import { isFinal, type Payment } from '../model/payment.ts';
import type { ObservationRules } from '../store/ports.ts';

/** Thrown instead of logged where tests ask for it: a payment left a terminal state. */
export class TerminalStateLeft extends Error {
  override readonly name = 'TerminalStateLeft';
}

interface ObserveOptions {
  readonly deliver: ObservationRules['deliver'];
  readonly log: Log;
  /** Whether leaving a terminal state throws (tests) or is logged and ignored (production). */
  readonly strict: boolean;
}

/**
 * The only place where a payment changes status: pending to completed or failed, and never back (contract, Payment
 * status). Observations may repeat and may know less than we do; what the node does not know is kept.
 */
export function observationRules(options: ObserveOptions): ObservationRules {
  return {
    deliver: options.deliver,
    transition(previous, seen) {
      if (previous === null) return seen;
      if (isFinal(previous) && seen.status !== previous.status) {
        const message = `${previous.index} is ${previous.status} and was observed ${seen.status}`;
        if (options.strict) throw new TerminalStateLeft(message);
        options.log.error('A finalized payment was observed in another state; ignored.', {
          index: previous.index,
          status: previous.status,
          observed: seen.status,
        });
        return null;
      }
      const next = merge(previous, seen);
      return differs(previous, next) ? next : null;
    },
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
    preimage: seen.preimage ?? previous.preimage,
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
