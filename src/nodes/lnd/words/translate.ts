import { MSAT_PER_SAT } from '../../../model/amount.ts';
import { HELD, type Payment } from '../../../model/payment.ts';
import { miningFeeId, paymentId, paymentIndex, receiveId } from '../../../model/payment-index.ts';
import { FINAL_CONFIRMATIONS, shownTransaction } from '../../../model/transaction.ts';
import type { Observation } from '../../node.ts';
import { encodedExpiryMs } from '../../remote/orders/encoded-expiry.ts';
import { COMPLETED, shownPayment } from '../../shown-payment.ts';
import { ampObservations } from './amp.ts';
import { attemptOf } from './attempt.ts';
import { ownExpiryMs } from './invoice-expiry.ts';
import { isKeysend, messageOf } from './keysend.ts';
import type { LndInvoice, LndPayment, LndTransaction } from './wire.ts';

/** Translates LND's resources into payments; pure. Times of LND that are later than `nowMs` are replaced by it. */

/** Prefix of the label of transactions that were sent through the sidecar; the client_payment_id follows it. */
const SEND_LABEL = 'ws:';
/** LND's label on its own transactions, most of which open and close channels and sweep what those paid out. */
const OWN_LABEL = /^0:/;

const NS_PER_MS = 1_000_000n;

/** `status_msg` for LND's reasons of failure. */
const FAILURES: Readonly<Record<string, string>> = {
  FAILURE_REASON_TIMEOUT: 'timed out',
  FAILURE_REASON_NO_ROUTE: 'no route',
  FAILURE_REASON_ERROR: 'failed',
  FAILURE_REASON_INCORRECT_PAYMENT_DETAILS: 'rejected by the receiver',
  FAILURE_REASON_INSUFFICIENT_BALANCE: 'not enough sendable balance',
  FAILURE_REASON_CANCELED: 'canceled',
};

/** Returns the label of a transaction that is sent for a client_payment_id. */
export function sendLabel(clientPaymentId: string): string {
  return `${SEND_LABEL}${clientPaymentId}`;
}

/** Returns whether it is the label of a transaction that was sent for a client_payment_id. */
export function isSendLabel(label: string): boolean {
  return sentId(label) !== undefined;
}

function sentId(label: string): string | undefined {
  return new RegExp(`^${SEND_LABEL}([0-9a-f]{64})$`).exec(label)?.[1];
}

/** Returns the observations of an invoice: none for a keysend that is only announced, several for an AMP invoice. */
export function invoiceObservations(invoice: LndInvoice, nowMs: number): Observation[] {
  if (invoice.is_amp) return ampObservations(invoice, nowMs);
  const payment = invoicePayment(invoice, nowMs);
  return payment ? [{ payment, attempt: null, ampParts: null }] : [];
}

/** Returns the observation of an outgoing payment, with its {@link attemptOf}. */
export function outboundObservation(payment: LndPayment, nowMs: number): Observation {
  return { payment: outboundPayment(payment, nowMs), attempt: attemptOf(payment) };
}

/** Returns the observations of an on-chain transaction. */
export function transactionObservations(transaction: LndTransaction, nowMs: number): Observation[] {
  const inBlock = transaction.num_confirmations > 0;
  return transactionPayments(transaction, nowMs).map((payment) => ({
    payment,
    attempt: null,
    inBlock,
  }));
}

/**
 * Returns the inbound payment of an invoice, or null for a keysend that has not settled. `created_at` is LND's, in
 * whole seconds, so that the index follows from data that LND keeps.
 */
export function invoicePayment(invoice: LndInvoice, nowMs: number): Payment | null {
  const records = invoice.htlcs.map(({ custom_records }) => custom_records);
  const spontaneous = invoice.payment_request === '';
  if (spontaneous && invoice.state !== 'SETTLED') return null;
  if (spontaneous && !isKeysend(records)) return null;
  const createdAtMs = invoice.creation_date * 1000;
  const expiresAtMs = ownExpiryMs(invoice);
  const settled = invoice.state === 'SETTLED';
  const amountMsat = settled || isHeldAtLnd(invoice) ? invoice.amt_paid_msat : invoice.value_msat;
  return shownPayment({
    index: paymentIndex(createdAtMs, paymentId('ln', invoice.r_hash)),
    rail: spontaneous ? 'spontaneous' : 'invoice',
    direction: 'inbound',
    createdAtMs,
    ...invoiceOutcome(invoice, expiresAtMs, nowMs),
    hash: invoice.r_hash,
    preimage: settled ? invoice.r_preimage : null,
    amountMsat: amountMsat > 0n ? amountMsat : null,
    invoice: spontaneous ? null : invoice.payment_request,
    message: settled ? messageOf(records) : null,
    expiresAtMs,
  });
}

/** Whether LND does not know the preimage: the invoice was made for a hash, and is not settled. */
function isHold({ is_amp, payment_request, r_preimage }: LndInvoice): boolean {
  return !is_amp && payment_request !== '' && r_preimage === '';
}

/** Returns whether the invoice is one for a hash that can still be paid, settled or canceled. */
export function isOpenHold(invoice: LndInvoice): boolean {
  return isHold(invoice) && (invoice.state === 'OPEN' || invoice.state === 'ACCEPTED');
}

function isHeldAtLnd(invoice: LndInvoice): boolean {
  const { state, amt_paid_msat, value_msat } = invoice;
  return isHold(invoice) && state === 'ACCEPTED' && amt_paid_msat >= value_msat;
}

function invoiceOutcome(
  invoice: LndInvoice,
  expiresAtMs: number | null,
  nowMs: number,
): Pick<Payment, 'status' | 'statusMsg' | 'finalizedAtMs'> {
  const { state, settle_date, htlcs } = invoice;
  switch (state) {
    case 'SETTLED':
      return { ...COMPLETED, finalizedAtMs: Math.min(settle_date * 1000, nowMs) };
    case 'CANCELED': {
      // LND cancels expired invoices as well, and states neither when nor why. What it held did not expire.
      const wasHeld = isHold(invoice) && htlcs.length > 0;
      const expired = !wasHeld && expiresAtMs !== null && nowMs >= expiresAtMs;
      return {
        status: 'failed',
        statusMsg: expired ? 'expired' : 'canceled',
        finalizedAtMs: expired ? expiresAtMs : nowMs,
      };
    }
    default: {
      const statusMsg = isHeldAtLnd(invoice) ? HELD : 'invoice generated';
      return { status: 'pending', statusMsg, finalizedAtMs: null };
    }
  }
}

/** Returns the outbound payment. LND's `status` alone decides: a failure reason may stand beside any. */
export function outboundPayment(payment: LndPayment, nowMs: number): Payment {
  const createdAtMs = Number(payment.creation_time_ns / NS_PER_MS);
  const resolvedNs = payment.htlcs.reduce(
    (latest, { resolve_time_ns }) => (resolve_time_ns > latest ? resolve_time_ns : latest),
    0n,
  );
  const endedAtMs = resolvedNs === 0n ? nowMs : Math.min(Number(resolvedNs / NS_PER_MS), nowMs);
  const end = outboundStatus(payment);
  const { status } = end;
  const invoice = payment.payment_request || null;
  return shownPayment({
    index: paymentIndex(createdAtMs, paymentId('ln', payment.payment_hash)),
    rail: invoice === null ? 'spontaneous' : 'invoice',
    direction: 'outbound',
    ...end,
    createdAtMs,
    hash: payment.payment_hash,
    preimage: status === 'completed' ? payment.payment_preimage : null,
    amountMsat: payment.value_msat,
    feesMsat: status === 'failed' ? 0n : feesMsat(payment),
    invoice,
    expiresAtMs: invoice === null ? null : encodedExpiryMs(invoice),
    finalizedAtMs: status === 'pending' ? null : endedAtMs,
  });
}

/**
 * What the payment costs beyond its amount. An LND with native SQL says 0 in a list without hops, where it leaves out
 * what each hop takes, but not what the routes carry in all.
 */
function feesMsat({ fee_msat, value_msat, htlcs }: LndPayment): bigint {
  if (fee_msat !== 0n) return fee_msat;
  const carriedMsat = htlcs
    .filter(({ status }) => status === 'SUCCEEDED')
    .reduce((sum, { route }) => sum + (route?.total_amt_msat ?? 0n), 0n);
  return carriedMsat > value_msat ? carriedMsat - value_msat : 0n;
}

function outboundStatus(payment: LndPayment): Pick<Payment, 'status' | 'statusMsg'> {
  if (payment.status === 'SUCCEEDED') return COMPLETED;
  if (payment.status !== 'FAILED') return { status: 'pending', statusMsg: 'pending' };
  return { status: 'failed', statusMsg: FAILURES[payment.failure_reason] ?? 'failed' };
}

/**
 * Returns the payments of a transaction: one for each output by which others paid the wallet, or the one payment that
 * the wallet sent, or what it paid miners for moving its own coins, also into a channel. There are none for other
 * transactions of channels.
 */
export function transactionPayments(transaction: LndTransaction, nowMs: number): Payment[] {
  const { previous_outpoints, label } = transaction;
  const sent = previous_outpoints.some(({ is_our_output }) => is_our_output);
  if (sent && sentSatOf(transaction) <= 0n && !isSendLabel(label)) {
    return miningFee(transaction, nowMs);
  }
  // What opens a channel pays nobody, and its fee is part of no payment.
  if (OWN_LABEL.test(label)) return sent ? miningFee(transaction, nowMs) : [];
  return sent ? onchainSend(transaction, nowMs) : onchainReceipts(transaction, nowMs);
}

/** What left the wallet besides the fee. The fee is 0 where a coin is not the wallet's. */
function sentSatOf({ amount, total_fees }: LndTransaction): bigint {
  return -amount - total_fees;
}

/**
 * What the wallet paid miners for a transaction that pays nobody else, such as the child of a fee bump
 * (docs/decisions.md 158). Nothing where a coin of it is not the wallet's, and before a block has it: LND's sweeper
 * replaces its children, by others of other coins too.
 */
function miningFee(transaction: LndTransaction, nowMs: number): Payment[] {
  const { num_confirmations, total_fees, previous_outpoints } = transaction;
  const [txid = '', vout] = previous_outpoints[0]?.outpoint.split(':') ?? [];
  if (num_confirmations <= 0 || total_fees <= 0n) return [];
  if (!previous_outpoints.every(({ is_our_output }) => is_our_output)) return [];
  const facts = onchainFacts(transaction, nowMs);
  return [
    shownPayment({
      ...facts,
      index: paymentIndex(facts.createdAtMs, miningFeeId(txid, Number(vout))),
      direction: 'info',
      amountMsat: 0n,
      feesMsat: total_fees * MSAT_PER_SAT,
    }),
  ];
}

/** Coins that the wallet sends to itself are a payment only where a client asked for it, which the label says. */
function onchainSend(transaction: LndTransaction, nowMs: number): Payment[] {
  const { total_fees, tx_hash, label } = transaction;
  const sentSat = sentSatOf(transaction);
  const clientPaymentId = sentId(label);
  const foreign = transaction.output_details.find(({ is_our_address }) => !is_our_address);
  const facts = onchainFacts(transaction, nowMs);
  return [
    shownPayment({
      ...facts,
      index: paymentIndex(facts.createdAtMs, paymentId('os', clientPaymentId ?? tx_hash)),
      direction: 'outbound',
      amountMsat: sentSat > 0n ? sentSat * MSAT_PER_SAT : null,
      feesMsat: total_fees * MSAT_PER_SAT,
      address: foreign?.address || null,
    }),
  ];
}

function onchainReceipts(transaction: LndTransaction, nowMs: number): Payment[] {
  const facts = onchainFacts(transaction, nowMs);
  return transaction.output_details
    .filter(({ is_our_address }) => is_our_address)
    .map(({ output_index, amount, address }) =>
      shownPayment({
        ...facts,
        index: paymentIndex(facts.createdAtMs, receiveId(transaction.tx_hash, output_index)),
        direction: 'inbound',
        amountMsat: amount * MSAT_PER_SAT,
        address,
      }),
    );
}

/** The fields that payments of a transaction share. LND changes the time at a block; the journal keeps the first. */
function onchainFacts(transaction: LndTransaction, nowMs: number) {
  return {
    rail: 'onchain',
    createdAtMs: Math.min(transaction.time_stamp * 1000, nowMs),
    txid: transaction.tx_hash,
    tx: shownTransaction(transaction.raw_tx_hex),
    ...(transaction.num_confirmations >= FINAL_CONFIRMATIONS
      ? { ...COMPLETED, finalizedAtMs: nowMs }
      : {}),
  } as const;
}
