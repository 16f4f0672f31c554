import { isApiError } from '../../model/errors.ts';
import { idOf, isFinal, type Payment } from '../../model/payment.ts';
import type { FollowCursor } from './cursor.ts';
import { lookUpInvoice } from './invoices.ts';
import { transactionsSince } from './onchain.ts';
import { trackedPayment } from './payments.ts';
import type { LndRest } from './rest.ts';
import { invoicePayment, outboundPayment, transactionPayments } from './translate.ts';
import type { LndWallet } from './wallet.ts';
import { infoShape, invoicesShape, paymentsShape } from './wire.ts';

/** Rows read of LND at a time. */
const PAGE = 500;
/** Blocks that a reorganization may replace, and that a payment needs to be final, with room to spare. */
const UNSETTLED_BLOCKS = 20;
/** Up to so many unfinished invoices are looked up one by one, instead of listing all that LND holds open. */
const FEW = 8;
/**
 * A payment that LND does not know so long after it was begun was never sent: LND records it before it sends
 * anything, and the request that would have told it so is long over.
 */
const NEVER_SENT_AFTER_MS = 20_000;

/** What one look needs. */
export interface Look {
  readonly rest: LndRest;
  readonly wallet: LndWallet;
  readonly cursor: FollowCursor;
  /** The unfinished payments that the store knows. */
  readonly open: () => Promise<readonly Payment[]>;
}

/**
 * Reads what changed since the cursor and every unfinished payment, and moves the cursor along. What the macaroon may
 * not read is left out.
 */
export async function* reconcile(look: Look): AsyncGenerator<Payment[]> {
  const { rest, wallet, cursor } = look;
  yield* asAllowed(newInvoices(rest, wallet, cursor));
  yield* asAllowed(newPayments(rest, wallet, cursor));
  const unfinished = await look.open();
  const of = (onchain: boolean, direction: Payment['direction']) =>
    unfinished.filter(
      (payment) => (payment.rail === 'onchain') === onchain && payment.direction === direction,
    );
  yield* asAllowed(openInvoices(rest, wallet, of(false, 'inbound')));
  yield* asAllowed(openSends(rest, wallet, of(false, 'outbound')));
  yield* asAllowed(transactions(rest, wallet, cursor, of(true, 'outbound')));
}

async function* asAllowed(read: AsyncGenerator<Payment[]>): AsyncGenerator<Payment[]> {
  try {
    yield* read;
  } catch (error) {
    if (!isApiError(error, 'forbidden')) throw error;
  }
}

async function* newInvoices(
  rest: LndRest,
  wallet: LndWallet,
  cursor: FollowCursor,
): AsyncGenerator<Payment[]> {
  while (true) {
    const path = `/v1/invoices?num_max_invoices=${PAGE}&index_offset=${cursor.addIndex}`;
    const { invoices } = await rest.get(path, invoicesShape);
    for (const { add_index, settle_index } of invoices) {
      cursor.addIndex = Math.max(cursor.addIndex, add_index);
      cursor.settleIndex = Math.max(cursor.settleIndex, settle_index);
    }
    const nowMs = wallet.clock.now();
    yield invoices.flatMap((invoice) => invoicePayment(invoice, nowMs) ?? []);
    if (invoices.length < PAGE) return;
  }
}

async function* newPayments(
  rest: LndRest,
  wallet: LndWallet,
  cursor: FollowCursor,
): AsyncGenerator<Payment[]> {
  while (true) {
    const path = `/v1/payments?include_incomplete=true&omit_hops=true&max_payments=${PAGE}&index_offset=${cursor.paymentIndex}`;
    const { payments } = await rest.get(path, paymentsShape);
    for (const { payment_index } of payments) {
      cursor.paymentIndex = Math.max(cursor.paymentIndex, payment_index);
    }
    yield payments.map((payment) => outboundPayment(payment, wallet.clock.now()));
    if (payments.length < PAGE) return;
  }
}

async function* openInvoices(
  rest: LndRest,
  wallet: LndWallet,
  unfinished: readonly Payment[],
): AsyncGenerator<Payment[]> {
  const stillOpen = unfinished.length > FEW ? await openHashes(rest) : new Set<string>();
  const changed: Payment[] = [];
  for (const payment of unfinished) {
    if (payment.hash === null || stillOpen.has(payment.hash)) continue;
    const invoice = await lookUpInvoice(rest, payment.hash);
    const seen = invoice && invoicePayment(invoice, wallet.clock.now());
    if (seen && isFinal(seen)) changed.push(seen);
  }
  yield changed;
}

async function openHashes(rest: LndRest): Promise<Set<string>> {
  const hashes = new Set<string>();
  let offset = 0;
  while (true) {
    const path = `/v1/invoices?pending_only=true&num_max_invoices=${PAGE}&index_offset=${offset}`;
    const { invoices } = await rest.get(path, invoicesShape);
    for (const { r_hash } of invoices) hashes.add(r_hash);
    offset = invoices.at(-1)?.add_index ?? offset;
    if (invoices.length < PAGE) return hashes;
  }
}

async function* openSends(
  rest: LndRest,
  wallet: LndWallet,
  unfinished: readonly Payment[],
): AsyncGenerator<Payment[]> {
  const seen: Payment[] = [];
  for (const payment of unfinished) {
    if (payment.hash === null || wallet.sending.has(payment.hash)) continue;
    const known = await trackedPayment(rest, payment.hash);
    const nowMs = wallet.clock.now();
    if (known) seen.push(outboundPayment(known, nowMs));
    else if (wasNeverSent(payment, nowMs)) seen.push(neverSent(payment, nowMs));
  }
  yield seen;
}

async function* transactions(
  rest: LndRest,
  wallet: LndWallet,
  cursor: FollowCursor,
  sends: readonly Payment[],
): AsyncGenerator<Payment[]> {
  const { block_height } = await rest.get('/v1/getinfo', infoShape);
  const recent = wallet.labels.ripe(await transactionsSince(rest, cursor.height));
  const nowMs = wallet.clock.now();
  const seen = recent.flatMap((transaction) => transactionPayments(transaction, nowMs));
  const sent = new Set(seen.map(idOf));
  const unsent = sends.filter(
    (payment) => payment.txid === null && !sent.has(idOf(payment)) && wasNeverSent(payment, nowMs),
  );
  cursor.height = Math.max(0, block_height - UNSETTLED_BLOCKS);
  yield [...seen, ...unsent.map((payment) => neverSent(payment, nowMs))];
}

function wasNeverSent(payment: Payment, nowMs: number): boolean {
  return nowMs - payment.createdAtMs > NEVER_SENT_AFTER_MS;
}

function neverSent(payment: Payment, nowMs: number): Payment {
  return {
    ...payment,
    status: 'failed',
    statusMsg: 'not sent',
    finalizedAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}
