import type { Payment } from '../../model/payment.ts';
import { idOfIndex } from '../../model/payment-index.ts';
import type { Observation } from '../node.ts';
import { FINAL_CONFIRMATIONS, sendLabel } from './translate.ts';
import type { LndTransaction } from './wire.ts';

/** An on-chain send: its label, its transaction and the outpoints that it spends. */
interface Send {
  readonly label: string;
  readonly txid: string;
  readonly outpoints: readonly string[];
}

/** The label of a send's transactions in LND. */
export function labelOf({ index }: Pick<Payment, 'index'>): string {
  return sendLabel(idOfIndex(index).slice('os_'.length));
}

/**
 * Another transaction in LND's list that spends a coin of the send, so that only one of the two can confirm; null when
 * there is none, or when the send itself has confirmed. A transaction with the send's own label is a fee bump, not a
 * rival.
 */
export function rivalOf(send: Send, listed: readonly LndTransaction[]): LndTransaction | null {
  const own = listed.find(({ tx_hash }) => tx_hash === send.txid);
  if (own && own.num_confirmations > 0) return null;
  const coins = new Set(send.outpoints);
  const rivals = listed.filter(
    ({ tx_hash, label, previous_outpoints }) =>
      tx_hash !== send.txid &&
      label !== send.label &&
      previous_outpoints.some(({ outpoint }) => coins.has(outpoint)),
  );
  // The rival with the most confirmations decides.
  return rivals.toSorted((a, b) => b.num_confirmations - a.num_confirmations)[0] ?? null;
}

/** Whether the other transaction has the confirmations that make it final (docs/decisions.md 39). */
export function isDecided({ num_confirmations }: LndTransaction): boolean {
  return num_confirmations >= FINAL_CONFIRMATIONS;
}

/**
 * The observation of a published send whose coins a listed transaction spends; null when there is no such transaction.
 */
export function replacedSend(
  payment: Payment,
  listed: readonly LndTransaction[],
  nowMs: number,
): Observation | null {
  const { txid, tx } = payment;
  if (txid === null || tx === null) return null;
  const outpoints = tx.input.map(({ previous_output }) => previous_output);
  const rival = rivalOf({ label: labelOf(payment), txid, outpoints }, listed);
  if (rival === null) return null;
  const replaced = { ...payment, replacement: rival.tx_hash, updatedAtMs: nowMs };
  if (!isDecided(rival)) return { payment: replaced, attempt: null };
  const ended = { status: 'failed', statusMsg: 'replaced', finalizedAtMs: nowMs } as const;
  return { payment: { ...replaced, ...ended }, attempt: null };
}
