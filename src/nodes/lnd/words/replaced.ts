import type { Payment } from '../../../model/payment.ts';
import { idOfIndex } from '../../../model/payment-index.ts';
import { FINAL_CONFIRMATIONS } from '../../../model/transaction.ts';
import type { Observation } from '../../node.ts';
import { endedPayment, REPLACED } from '../../shown-payment.ts';
import { sendLabel } from './translate.ts';
import type { LndTransaction } from './wire.ts';

/** A transaction that spends coins: one of LND's list, or one that LND reported as the spender of a coin. */
export type Spender = Pick<
  LndTransaction,
  'tx_hash' | 'num_confirmations' | 'label' | 'time_stamp' | 'output_details' | 'previous_outpoints'
>;

/** The transaction of an on-chain payment and the outpoints that it spends. */
interface Contested {
  /** The label of a send's transactions; null for a receipt. */
  readonly label: string | null;
  readonly txid: string;
  readonly outpoints: readonly string[];
}

/** Returns the label of a send's transactions in LND. */
export function labelOf({ index }: Pick<Payment, 'index'>): string {
  return sendLabel(idOfIndex(index).slice('os_'.length));
}

/** Returns the outpoints that an on-chain payment spends; empty while its transaction is not known. */
export function outpointsOf({ tx }: Pick<Payment, 'tx'>): string[] {
  return tx?.input.map(({ previous_output }) => previous_output) ?? [];
}

/**
 * Returns another transaction that spends a coin of this one and stands in its place, so that only one of the two can
 * confirm. Null when there is none, when it is the older of two unconfirmed ones, or when this transaction itself has
 * confirmed. A transaction with the send's own label is a fee bump, not a rival.
 */
export function rivalOf(
  { label, txid, outpoints }: Contested,
  spenders: readonly Spender[],
): Spender | null {
  const own = spenders.find(({ tx_hash }) => tx_hash === txid);
  if (own && own.num_confirmations > 0) return null;
  const coins = new Set(outpoints);
  const [rival] = spenders
    .filter(
      (other) =>
        other.tx_hash !== txid &&
        (label === null || other.label !== label) &&
        other.previous_outpoints.some(({ outpoint }) => coins.has(outpoint)),
    )
    .toSorted(byStanding);
  if (rival === undefined) return null;
  return own === undefined || byStanding(rival, own) < 0 ? rival : null;
}

/**
 * Orders transactions of which only one can confirm: first the one with the most confirmations, then the latest, then
 * the one that leaves more to fees, because a replacement must pay more (BIP 125).
 */
export function byStanding(a: Spender, b: Spender): number {
  return (
    b.num_confirmations - a.num_confirmations ||
    b.time_stamp - a.time_stamp ||
    Number(outputSat(a) - outputSat(b))
  );
}

function outputSat({ output_details }: Spender): bigint {
  return output_details.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Returns whether the other transaction has the confirmations that make it final (docs/decisions.md 39). */
export function isDecided({ num_confirmations }: Spender): boolean {
  return num_confirmations >= FINAL_CONFIRMATIONS;
}

/** The observation of an unfinished payment whose coins another transaction spends; null without one. */
export function replacedPayment(
  payment: Payment,
  spenders: readonly Spender[],
  nowMs: number,
): Observation | null {
  const { txid, direction } = payment;
  if (txid === null) return null;
  const label = direction === 'outbound' ? labelOf(payment) : null;
  const rival = rivalOf({ label, txid, outpoints: outpointsOf(payment) }, spenders);
  if (rival === null) return null;
  const replaced = { ...payment, replacement: rival.tx_hash, updatedAtMs: nowMs };
  const shown = isDecided(rival) ? endedPayment(replaced, REPLACED, nowMs) : replaced;
  return { payment: shown, attempt: null };
}
