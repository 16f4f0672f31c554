import { hex } from '@scure/base';
import { MSAT_PER_SAT } from '../../../model/amount.ts';
import type { Payment } from '../../../model/payment.ts';
import { FINAL_CONFIRMATIONS, transactionJsonOf } from '../../../model/transaction.ts';
import type { Observation } from '../../node-observations.ts';
import { type BegunSend, blankSend } from '../../remote/orders/onchain-send.ts';
import { outlineOf, pays } from '../../remote/orders/psbt.ts';
import { COMPLETED, endedPayment } from '../../shown-payment.ts';
import { type Chain, feeMsatOf } from '../reads/chain.ts';
import type { ClnRpc } from '../reads/rpc.ts';
import type { ClnWallet } from '../reads/wallet.ts';
import type { ClnTransaction } from '../words/chain-wire.ts';
import { spendersOf } from './chain-moves.ts';
import { releaseReservations } from './reservations.ts';

type SendSeen =
  | { readonly state: 'seen'; readonly observation: Observation }
  /** Another transaction has spent a coin of it, for good. */
  | { readonly state: 'replaced'; readonly by: string }
  /** Neither the node's list nor a block has it. */
  | { readonly state: 'unseen' };

/**
 * What the node shows of a send, which is given as it stands once its transaction is published. It is replaced for good
 * only when another transaction that spends one of its coins has six confirmations (docs/decisions.md 39), and then its
 * other coins are released. Another one that pays the receiver as much is a fee bump, and then the send itself.
 */
export async function seenSend(
  owner: ClnRpc,
  { network, clock }: Pick<ClnWallet, 'network' | 'clock'>,
  chain: Chain,
  payment: Payment,
): Promise<SendSeen> {
  const { txid } = payment;
  const nowMs = clock.now();
  const listed = chain.transactions.get(txid ?? '');
  const own = listed ? withTransaction(payment, listed, chain) : payment;
  const inBlock = (one: Payment, height: number): SendSeen => ({
    state: 'seen',
    observation: sendInBlock(one, height, chain.height, nowMs),
  });
  if (listed && listed.blockheight > 0) return inBlock(own, listed.blockheight);
  const outpoints = payment.tx?.input.map(({ previous_output }) => previous_output) ?? [];
  const spent = outpoints.filter((outpoint) => chain.coins.get(outpoint)?.status === 'spent');
  const spenders = spent.length === 0 ? [] : await spendersOf(owner, spent);
  const itself = spenders.find((one) => one.txid === txid);
  if (itself) return inBlock(own, itself.height);
  const [rival] = spenders.toSorted((a, b) => a.height - b.height);
  if (rival === undefined) {
    if (listed === undefined) return { state: 'unseen' };
    return { state: 'seen', observation: { payment: own, attempt: null } };
  }
  const bump = chain.transactions.get(rival.txid);
  if (bump && paysAsMuch(bump, payment, network)) {
    return inBlock(withTransaction(payment, bump, chain), rival.height);
  }
  if (isFinalAt(rival.height, chain.height)) {
    // Nothing can confirm the send any more, so its other coins are free. Otherwise their reservation ends by itself.
    const others = outpoints.filter((outpoint) => !spent.includes(outpoint));
    if (others.length > 0) await releaseReservations(owner, others).catch(() => undefined);
    return { state: 'replaced', by: rival.txid };
  }
  const replaced = { ...own, replacement: rival.txid, updatedAtMs: nowMs };
  return { state: 'seen', observation: { payment: replaced, attempt: null } };
}

/** A send whose transaction stands in a block of that height; 0: in none. */
export function sendInBlock(
  payment: Payment,
  atHeight: number,
  height: number,
  nowMs: number,
): Observation {
  if (atHeight === 0) return { payment, attempt: null };
  const standing = { ...payment, replacement: null };
  if (!isFinalAt(atHeight, height)) return { payment: standing, attempt: null, inBlock: true };
  return { payment: endedPayment(standing, COMPLETED, nowMs), attempt: null, inBlock: true };
}

/** Whether a transaction in a block of that height has the confirmations that make it final. */
export function isFinalAt(atHeight: number, height: number): boolean {
  return atHeight > 0 && height - atHeight + 1 >= FINAL_CONFIRMATIONS;
}

/** A send of which the node lists the transaction. */
export function listedSend(asked: BegunSend, transaction: ClnTransaction, chain: Chain): Payment {
  return withTransaction(blankSend(asked, transaction.hash), transaction, chain);
}

function withTransaction(payment: Payment, transaction: ClnTransaction, chain: Chain): Payment {
  const feesMsat = feeMsatOf(transaction, chain) ?? payment.feesMsat;
  const tx = transactionJsonOf(hex.decode(transaction.rawtx));
  return { ...payment, txid: transaction.hash, tx, feesMsat };
}

/** Whether the transaction pays the receiver of the payment as much. */
export function paysAsMuch(
  { rawtx }: ClnTransaction,
  { address, amountMsat }: Pick<Payment, 'address' | 'amountMsat'>,
  network: ClnWallet['network'],
): boolean {
  if (address === null || amountMsat === null) return false;
  const outline = outlineOf(hex.decode(rawtx));
  return pays(outline, address, amountMsat / MSAT_PER_SAT, network);
}
