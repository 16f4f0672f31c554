import { hex } from '@scure/base';
import { idOf, type Payment } from '../../../model/payment.ts';
import {
  miningFeeId,
  type PaymentId,
  paymentId,
  paymentIndex,
  receiveId,
} from '../../../model/payment-index.ts';
import { transactionJsonOf } from '../../../model/transaction.ts';
import type { Observation, UpdatesOptions } from '../../node-observations.ts';
import { COMPLETED, endedPayment, REPLACED, shownPayment } from '../../shown-payment.ts';
import { type Chain, feeMsatOf, foreignOutputs, isOwn, readChain } from '../reads/chain.ts';
import { type ChannelMoney, readChannelMoney } from '../reads/channel-money.ts';
import { outpointOf } from '../reads/coins.ts';
import type { ClnOwned, ClnWallet } from '../reads/wallet.ts';
import type { ClnChainMove, ClnTransaction } from '../words/chain-wire.ts';
import { chainMovesAfter } from './chain-moves.ts';
import { isFinalAt, listedSend, paysAsMuch, seenSend, sendInBlock } from './send-seen.ts';

/**
 * The subsystem and index of `wait` by which the node tells of new rows of {@link onchainLook}. It tells of no further
 * confirmations: while an on-chain payment is not final, a look is needed after each block.
 */
export const CHAIN_WAIT = { subsystem: 'chainmoves', indexname: 'created' } as const;

interface LookOptions extends Pick<UpdatesOptions, 'open'> {
  /** The created index of the last chain move that was read; 0 reads all. */
  readonly after: number;
}

interface ChainSeen {
  readonly observations: readonly Observation[];
  /** The created index to go on from. */
  readonly reached: number;
}

/**
 * Reads what is new on chain, and how the unfinished payments stand: what others paid to the wallet, from the first
 * block on, since the node sees no payment before; the wallet's own sends; sends that were made with other tools; and
 * what transactions within the wallet cost. Repeats are harmless.
 */
export async function onchainLook(
  { owner, wallet }: ClnOwned,
  { open, after }: LookOptions,
): Promise<ChainSeen> {
  // The moves are read before the payments: what is published is stored before.
  const moves = await chainMovesAfter(owner, after);
  const unfinished = (await open('onchain')).filter(({ rail }) => rail === 'onchain');
  const reached = moves.at(-1)?.created_index ?? after;
  if (moves.length === 0 && unfinished.length === 0) return { observations: [], reached };
  const chain = await readChain(owner);
  const followed: Observation[] = [];
  for (const payment of unfinished) {
    const seen = await followedPayment({ owner, wallet }, chain, payment);
    if (seen) followed.push(seen);
  }
  const fresh = moves.length === 0 ? [] : await newPayments({ owner, wallet }, chain, moves);
  const known = new Set(unfinished.map(idOf));
  const isNew = ({ payment }: Observation) =>
    !known.has(idOf(payment)) && !unfinished.some((one) => isSendOf(one, payment, chain, wallet));
  return { observations: [...followed, ...fresh.filter(isNew)], reached };
}

/** The on-chain payment of an id, or null. The node does not keep the ids of the wallet's own sends. */
export async function onchainPayment(node: ClnOwned, id: PaymentId): Promise<Observation | null> {
  const moves = await chainMovesAfter(node.owner, 0);
  const all = await newPayments(node, await readChain(node.owner), moves);
  return all.find(({ payment }) => idOf(payment) === id) ?? null;
}

/** Whether a transaction that the record shows is that of an unfinished send. */
function isSendOf(
  unfinished: Payment,
  shown: Payment,
  { transactions }: Chain,
  { network }: ClnWallet,
): boolean {
  if (unfinished.direction !== 'outbound' || shown.direction === 'inbound') return false;
  if (unfinished.txid === shown.txid) return true;
  // While the answer to publishing is unknown the payment has no txid, and a fee bump has another.
  const transaction = transactions.get(shown.txid ?? '');
  return transaction !== undefined && paysAsMuch(transaction, unfinished, network);
}

/** How an unfinished payment stands; null where the node shows nothing of it. */
async function followedPayment(
  { owner, wallet }: ClnOwned,
  chain: Chain,
  payment: Payment,
): Promise<Observation | null> {
  const { txid, direction } = payment;
  if (txid === null) return null;
  if (direction === 'inbound') return receivedSo(payment, chain, wallet.clock.now());
  const seen = await seenSend(owner, wallet, chain, payment);
  if (seen.state === 'unseen') return null;
  if (seen.state === 'seen') return seen.observation;
  const replaced = { ...payment, replacement: seen.by };
  return { payment: endedPayment(replaced, REPLACED, wallet.clock.now()), attempt: null };
}

async function newPayments(
  { owner, wallet }: ClnOwned,
  chain: Chain,
  moves: readonly ClnChainMove[],
): Promise<Observation[]> {
  const money = await readChannelMoney(owner, chain);
  const ofWallet = moves.filter(({ account_id }) => account_id === 'wallet');
  return [
    ...ofWallet.flatMap((move) => receipt(move, chain, money, wallet.clock.now()) ?? []),
    ...spendings(ofWallet, chain, money, wallet),
  ];
}

/** The receipt that a coin is; null for change and for what channels paid out. */
function receipt(
  { utxo, primary_tag, timestamp }: ClnChainMove,
  chain: Chain,
  { closing }: ChannelMoney,
  nowMs: number,
): Observation | null {
  const coin = chain.coins.get(utxo);
  if (primary_tag !== 'deposit' || coin === undefined) return null;
  const transaction = chain.transactions.get(coin.txid);
  if (transaction === undefined) return null;
  if (closing.has(coin.txid) || isOwn(transaction, chain)) return null;
  const createdAtMs = Math.min(Math.floor(timestamp * 1000), nowMs);
  const pending = shownPayment({
    index: paymentIndex(createdAtMs, receiveId(coin.txid, coin.output)),
    rail: 'onchain',
    direction: 'inbound',
    createdAtMs,
    txid: coin.txid,
    tx: transactionJsonOf(hex.decode(transaction.rawtx)),
    amountMsat: coin.amount_msat,
    address: coin.address ?? null,
  });
  return receivedSo(pending, chain, nowMs);
}

/** A receipt as the chain shows it now; null where the node has no coin of it. */
function receivedSo(payment: Payment, chain: Chain, nowMs: number): Observation | null {
  const transaction = chain.transactions.get(payment.txid ?? '');
  if (transaction === undefined || !hasCoinOf(payment, transaction, chain)) return null;
  const { blockheight } = transaction;
  if (!isFinalAt(blockheight, chain.height)) {
    return { payment, attempt: null, inBlock: blockheight > 0 };
  }
  return { payment: endedPayment(payment, COMPLETED, nowMs), attempt: null, inBlock: true };
}

function hasCoinOf(payment: Payment, { hash, outputs }: ClnTransaction, { coins }: Chain): boolean {
  return outputs.some((_, output) => {
    const coin = coins.get(outpointOf({ txid: hash, output }));
    return coin !== undefined && receiveId(hash, output) === idOf(payment);
  });
}

/**
 * What the wallet's spent coins went to, as the record shows it: sends, as payments that other tools made, and what it
 * paid miners for transactions that pay nobody else.
 */
function spendings(
  moves: readonly ClnChainMove[],
  chain: Chain,
  { opening, closing }: ChannelMoney,
  { clock, network }: ClnWallet,
): Observation[] {
  const nowMs = clock.now();
  const seen = new Map<string, ClnChainMove>();
  for (const move of moves) if (move.spending_txid) seen.set(move.spending_txid, move);
  return [...seen].flatMap(([txid, { timestamp }]) => {
    const transaction = chain.transactions.get(txid);
    if (transaction === undefined || closing.has(txid)) return [];
    const createdAtMs = Math.min(Math.floor(timestamp * 1000), nowMs);
    const sent = opening.has(txid) ? null : externalSend(transaction, createdAtMs, chain, network);
    const payment = sent ?? miningFee(transaction, createdAtMs, chain);
    if (payment === null) return [];
    return [sendInBlock(payment, transaction.blockheight, chain.height, nowMs)];
  });
}

/** The payment of a transaction that another tool made; null where it pays nobody else. */
function externalSend(
  transaction: ClnTransaction,
  createdAtMs: number,
  chain: Chain,
  network: ClnWallet['network'],
): Payment | null {
  const [foreign, ...more] = foreignOutputs(transaction, chain, network);
  if (foreign === undefined) return null;
  const asked = {
    index: paymentIndex(createdAtMs, paymentId('os', transaction.hash)),
    createdAtMs,
    amountMsat: more.reduce((sum, one) => sum + one.amountMsat, foreign.amountMsat),
    address: foreign.address,
    priority: null,
  };
  return listedSend(asked, transaction, chain);
}

/**
 * What the wallet paid miners for a transaction that pays nobody else, such as the child of a fee bump
 * (docs/decisions.md 158). Null where a coin of it is not the wallet's, so that its fee is not known.
 */
function miningFee(transaction: ClnTransaction, createdAtMs: number, chain: Chain): Payment | null {
  const [spent] = transaction.inputs;
  if (spent === undefined || feeMsatOf(transaction, chain) === null) return null;
  const asked = {
    index: paymentIndex(createdAtMs, miningFeeId(spent.txid, spent.index)),
    createdAtMs,
    amountMsat: 0n,
    address: null,
    priority: null,
  };
  return { ...listedSend(asked, transaction, chain), direction: 'info' };
}
