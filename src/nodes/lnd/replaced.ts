import type { Payment } from '../../model/payment.ts';
import { idOfIndex } from '../../model/payment-index.ts';
import type { Observation } from '../node.ts';
import { FINAL_CONFIRMATIONS, sendLabel } from './translate.ts';
import type { LndTransaction } from './wire.ts';

/** A send on chain: its label, its transaction and the coins that this spends. */
interface Send {
  readonly label: string;
  readonly txid: string;
  readonly outpoints: readonly string[];
}

/** The label by which a send's transactions are known. */
export function labelOf({ index }: Pick<Payment, 'index'>): string {
  return sendLabel(idOfIndex(index).slice('os_'.length));
}

/**
 * The other transaction that spends a coin of the send, so that only one of the two can confirm; null when there is
 * none. A fee bump carries the send's own label.
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
  // The one that is deepest in the chain is the one that counts.
  return rivals.toSorted((a, b) => b.num_confirmations - a.num_confirmations)[0] ?? null;
}

/** Whether the chain has decided for the other transaction. */
export function isDecided({ num_confirmations }: LndTransaction): boolean {
  return num_confirmations >= FINAL_CONFIRMATIONS;
}

/** What a listed rival makes of a send that is known as published; null when there is none. */
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
