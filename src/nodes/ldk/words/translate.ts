import { timestampOf } from '../../../codecs/bolt11/index.ts';
import { HELD, type Payment } from '../../../model/payment.ts';
import {
  createdAtOfIndex,
  miningFeeId,
  type PaymentIndex,
  paymentId,
  paymentIndex,
  receiveId,
} from '../../../model/payment-index.ts';
import { FINAL_CONFIRMATIONS, shownTransaction } from '../../../model/transaction.ts';
import type { Observation } from '../../node.ts';
import { COMPLETED, REPLACED, shownPayment } from '../../shown-payment.ts';
import type { LdkRow, LdkTransaction } from './words.ts';

/** The reason of an attempt that a crash cut before LDK took it: nothing was sent, and nothing will be. */
const NEVER_SENT = 'never sent';

/** From here on an amount has an output of its own at every fee that LDK agrees to. */
const SMALL_MSAT = 10_000_000n;

const RAILS = { bolt11: 'invoice', keysend: 'spontaneous', offer: 'offer' } as const;

/** `status_msg` for the reasons of failure: LDK's own, and those of the helper. */
const FAILURES: Readonly<Record<string, string>> = {
  RecipientRejected: 'rejected by the receiver',
  UserAbandoned: 'canceled',
  RetriesExhausted: 'timed out',
  PaymentExpired: 'expired',
  RouteNotFound: 'no route',
  PaymentSendingFailed: 'no route',
  not_sent: 'not sent',
  [NEVER_SENT]: 'not sent',
  InvoiceRequestExpired: 'the receiver did not answer',
  InvoiceRequestRejected: 'rejected by the receiver',
  expired: 'expired',
  canceled: 'canceled',
};

/** Whether the row is of an attempt that LDK certainly never took. */
export function isNeverSent({ direction, state, reason }: LdkRow): boolean {
  return direction === 'out' && state === 'failed' && reason === NEVER_SENT;
}

/** Returns what a row shows: nothing for an attempt that LDK never took, or may not have taken yet. */
export function rowObservations(row: LdkRow): Observation[] {
  if (isNeverSent(row) || row.state === 'asked') return [];
  return [rowObservation(row)];
}

/** Returns the payment of a row, with the number of its attempt. */
export function rowObservation(row: LdkRow): Observation {
  const payment = row.direction === 'in' ? inboundPayment(row) : outboundPayment(row);
  return { payment, attempt: row.attempt };
}

function inboundPayment(row: LdkRow): Payment {
  const { bolt11, received_msat, amount_msat, lsp_fee_msat } = row;
  const createdAtMs = bolt11 === null ? row.created_at : timestampOf(bolt11) * 1000;
  return shownPayment({
    ...commonFields(row),
    index: paymentIndex(createdAtMs, paymentId(row.kind === 'offer' ? 'fr' : 'ln', hashOf(row))),
    createdAtMs,
    ...inboundStatus(row),
    amountMsat: received_msat ?? amount_msat,
    feesMsat: row.state === 'failed' ? 0n : (lsp_fee_msat ?? 0n),
  });
}

function inboundStatus({ state, reason }: LdkRow): Pick<Payment, 'status' | 'statusMsg'> {
  if (state === 'completed') return COMPLETED;
  if (state === 'failed') return { status: 'failed', statusMsg: failureOf(reason) };
  return { status: 'pending', statusMsg: state === 'held' ? HELD : 'invoice generated' };
}

function outboundPayment(row: LdkRow): Payment {
  const { state, reason, amount_msat, fee_msat, ref } = row;
  const index =
    ref === null ? paymentIndex(row.created_at, paymentId('ln', hashOf(row))) : indexOf(ref);
  return shownPayment({
    ...commonFields(row),
    index,
    createdAtMs: createdAtOfIndex(index),
    ...(state === 'completed' ? COMPLETED : {}),
    ...(state === 'failed' && !isLost(row)
      ? { status: 'failed', statusMsg: failureOf(reason) }
      : {}),
    ...(isLost(row) ? { statusMsg: 'its channel was closed', finalizedAtMs: null } : {}),
    amountMsat: amount_msat,
    feesMsat: state === 'failed' ? 0n : (fee_msat ?? 0n),
  });
}

function commonFields(row: LdkRow) {
  return {
    rail: RAILS[row.kind],
    direction: row.direction === 'in' ? 'inbound' : 'outbound',
    hash: row.hash,
    preimage: row.state === 'completed' ? row.preimage : null,
    invoice: row.bolt11,
    description: row.description,
    offerId: row.offer_id,
    message: row.direction === 'in' || row.kind === 'offer' ? row.message : null,
    expiresAtMs: row.expires_at,
    finalizedAtMs: row.ended_at,
  } as const;
}

/**
 * Whether LDK gave a small payment up for which the closing of its channel left no output. The receiver may have taken
 * it from another node, and nothing tells, so it stays pending: unknown is not failed (docs/decisions.md 35). A larger
 * one was left out because it had not gone out. A payment of an offer without a hash had no invoice yet.
 */
function isLost({ state, cut, hash, amount_msat }: LdkRow): boolean {
  return state === 'failed' && cut && hash !== null && (amount_msat ?? 0n) < SMALL_MSAT;
}

/** The hash of a row, which only a payment of an offer can lack, and that was asked for under an index. */
function hashOf({ hash, key }: LdkRow): string {
  if (hash === null) throw new TypeError(`The row ${key} has no hash.`);
  return hash;
}

function failureOf(reason: string | null): string {
  return FAILURES[reason ?? ''] ?? 'failed';
}

/** The helper keeps the index as it was given. */
function indexOf(ref: string): PaymentIndex {
  return ref as PaymentIndex;
}

/** What is known of the transaction of a send that the sidecar published. */
export type KnownSend = Pick<Payment, 'index' | 'amountMsat' | 'address' | 'priority'>;

/**
 * Returns the payments of a transaction: one for each output by which others paid the wallet, or the one that the
 * wallet sent, or what it paid miners to move its own coins, also into a channel. What closes channels is no payment.
 */
export function transactionObservations(
  transaction: LdkTransaction,
  height: number,
  send: KnownSend | null,
): Observation[] {
  const inBlock = transaction.height !== null;
  return transactionPayments(transaction, height, send).map((payment) => ({
    payment,
    attempt: null,
    inBlock,
  }));
}

function transactionPayments(
  transaction: LdkTransaction,
  height: number,
  send: KnownSend | null,
): Payment[] {
  const { role, sent_msat, received_msat, fee_msat, txid, outputs } = transaction;
  const facts = onchainFacts(transaction, height);
  if (send !== null) return [sentPayment(transaction, height, send)];
  if (role === 'close' || role === 'sweep') return [];
  if (sent_msat === 0n) {
    return outputs.map(({ vout, amount_msat, address }) =>
      shownPayment({
        ...facts,
        index: paymentIndex(facts.createdAtMs, receiveId(txid, vout)),
        direction: 'inbound',
        amountMsat: amount_msat,
        address,
      }),
    );
  }
  const paidMsat = sent_msat - received_msat - (fee_msat ?? 0n);
  if (role === null && paidMsat > 0n) {
    return [
      shownPayment({
        ...facts,
        index: paymentIndex(facts.createdAtMs, paymentId('os', txid)),
        direction: 'outbound',
        amountMsat: paidMsat,
        feesMsat: fee_msat ?? 0n,
      }),
    ];
  }
  // Before a block has it, another transaction with the same coins may still take its place.
  if (transaction.height === null || fee_msat === null) return [];
  const [spentTxid = txid, vout] = facts.tx?.input[0]?.previous_output.split(':') ?? [];
  return [
    shownPayment({
      ...facts,
      index: paymentIndex(facts.createdAtMs, miningFeeId(spentTxid, Number(vout ?? 0))),
      direction: 'info',
      amountMsat: 0n,
      feesMsat: fee_msat,
    }),
  ];
}

/** The payment of a send that the sidecar published, as its transaction stands. */
export function sentPayment(transaction: LdkTransaction, height: number, send: KnownSend): Payment {
  return shownPayment({
    ...onchainFacts(transaction, height),
    index: send.index,
    createdAtMs: createdAtOfIndex(send.index),
    direction: 'outbound',
    amountMsat: send.amountMsat,
    feesMsat: transaction.fee_msat ?? 0n,
    address: send.address,
    priority: send.priority,
  });
}

function onchainFacts(transaction: LdkTransaction, height: number) {
  const { txid, hex: raw, block_time, first_seen, replaced_by } = transaction;
  const confirmations = transaction.height === null ? 0 : height - transaction.height + 1;
  const atMs = block_time ?? first_seen;
  return {
    rail: 'onchain',
    createdAtMs: first_seen,
    txid,
    tx: shownTransaction(raw),
    ...(confirmations >= FINAL_CONFIRMATIONS ? { ...COMPLETED, finalizedAtMs: atMs } : {}),
    ...(replaced_by === null ? {} : { ...REPLACED, replacement: replaced_by, finalizedAtMs: atMs }),
  } as const;
}
