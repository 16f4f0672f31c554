import { isApiError } from '../../model/errors.ts';
import { isFinal, isHeld, type Payment } from '../../model/payment.ts';
import type { Observation } from '../node.ts';
import type { FollowCursor } from './cursor.ts';
import { type BumpableSend, labelBumps, standing, withSendLabels } from './fee-bump.ts';
import { lookUpInvoice } from './invoices.ts';
import { paymentsAfter, trackedPayment } from './payments.ts';
import { outpointsOf, replacedPayment } from './replaced.ts';
import type { LndRest } from './rest.ts';
import type { SpendWatch } from './spends.ts';
import { transactionsSince } from './transactions.ts';
import {
  invoiceObservations,
  isOpenHold,
  outboundObservation,
  transactionObservations,
} from './translate.ts';
import type { LndWallet } from './wallet.ts';
import { infoShape, invoicesShape, type LndInvoice, type LndTransaction } from './wire.ts';

/** Number of invoices read from LND in one call. */
const PAGE = 500;
/** More blocks than a reorganization replaces or a payment needs to be final: transactions in them are read again. */
const UNSETTLED_BLOCKS = 20;
/** Blocks come more slowly than this on average. */
const FASTEST_BLOCKS_MS = 5 * 60_000;
/** Up to this many unfinished invoices are looked up one by one; for more, the list of all open invoices is read. */
const FEW = 8;

/** The scope of one {@link reconcile}. */
export interface Look {
  readonly rest: LndRest;
  readonly wallet: LndWallet;
  readonly cursor: FollowCursor;
  readonly spends: SpendWatch;
  /** Returns the unfinished payments that the store has. */
  readonly open: () => Promise<readonly Payment[]>;
  /** Called with the hash of each invoice that may be held, or is. */
  readonly onHold: (hash: string) => void;
}

/**
 * Reads what changed since the cursor and every unfinished payment, and advances the cursor. What the macaroon may not
 * read is left out.
 */
export async function* reconcile(look: Look): AsyncGenerator<Observation[]> {
  const { rest, wallet, cursor } = look;
  yield* asAllowed(newInvoices(look));
  yield* asAllowed(newPayments(rest, wallet, cursor));
  const unfinished = await look.open();
  const of = (onchain: boolean, direction: Payment['direction']) =>
    unfinished.filter(
      (payment) => (payment.rail === 'onchain') === onchain && payment.direction === direction,
    );
  yield* asAllowed(openInvoices(look, of(false, 'inbound')));
  yield* asAllowed(openSends(rest, wallet, of(false, 'outbound')));
  const [sends, receipts] = [of(true, 'outbound'), of(true, 'inbound')];
  yield* asAllowed(transactions(look, sends, receipts));
}

async function* asAllowed(read: AsyncGenerator<Observation[]>): AsyncGenerator<Observation[]> {
  try {
    yield* read;
  } catch (error) {
    if (!isApiError(error, 'forbidden')) throw error;
  }
}

async function* newInvoices(look: Look): AsyncGenerator<Observation[]> {
  const { rest, wallet, cursor } = look;
  while (true) {
    const path = `/v1/invoices?num_max_invoices=${PAGE}&index_offset=${cursor.addIndex}`;
    const { invoices } = await rest.list(path, invoicesShape);
    for (const { add_index, settle_index } of invoices) {
      cursor.addIndex = Math.max(cursor.addIndex, add_index);
      cursor.settleIndex = Math.max(cursor.settleIndex, settle_index);
    }
    noteHolds(look, invoices);
    const nowMs = wallet.clock.now();
    yield invoices.flatMap((invoice) => invoiceObservations(invoice, nowMs));
    if (invoices.length < PAGE) return;
  }
}

async function* newPayments(
  rest: LndRest,
  wallet: LndWallet,
  cursor: FollowCursor,
): AsyncGenerator<Observation[]> {
  for await (const payments of paymentsAfter(rest, cursor.paymentIndex)) {
    for (const { payment_index } of payments) {
      cursor.paymentIndex = Math.max(cursor.paymentIndex, payment_index);
    }
    yield payments.map((payment) => outboundObservation(payment, wallet.clock.now()));
  }
}

function noteHolds({ onHold }: Look, invoices: readonly LndInvoice[]): void {
  for (const invoice of invoices) if (isOpenHold(invoice)) onHold(invoice.r_hash);
}

async function* openInvoices(
  look: Look,
  unfinished: readonly Payment[],
): AsyncGenerator<Observation[]> {
  const { rest, wallet } = look;
  const listed =
    unfinished.length > FEW ? await pendingInvoices(rest) : new Map<string, LndInvoice>();
  const changed: Observation[] = [];
  for (const { hash } of unfinished) {
    if (hash === null) continue;
    const invoice = listed.get(hash) ?? (await lookUpInvoice(rest, hash));
    if (invoice === null) continue;
    noteHolds(look, [invoice]);
    const seen = invoiceObservations(invoice, wallet.clock.now());
    changed.push(...seen.filter(({ payment }) => isFinal(payment) || isHeld(payment)));
  }
  yield changed;
}

async function pendingInvoices(rest: LndRest): Promise<Map<string, LndInvoice>> {
  const found = new Map<string, LndInvoice>();
  let offset = 0;
  while (true) {
    const path = `/v1/invoices?pending_only=true&num_max_invoices=${PAGE}&index_offset=${offset}`;
    const { invoices } = await rest.list(path, invoicesShape);
    for (const invoice of invoices) found.set(invoice.r_hash, invoice);
    offset = invoices.at(-1)?.add_index ?? offset;
    if (invoices.length < PAGE) return found;
  }
}

async function* openSends(
  rest: LndRest,
  wallet: LndWallet,
  unfinished: readonly Payment[],
): AsyncGenerator<Observation[]> {
  const seen: Observation[] = [];
  for (const payment of unfinished) {
    if (payment.hash === null || wallet.sending.has(payment.hash)) continue;
    const known = await trackedPayment(rest, payment.hash);
    if (known) seen.push(outboundObservation(known, wallet.clock.now()));
  }
  yield seen;
}

async function* transactions(
  { rest, wallet, cursor, spends }: Look,
  sends: readonly Payment[],
  receipts: readonly Payment[],
): AsyncGenerator<Observation[]> {
  const { block_height } = await rest.get('/v1/getinfo', infoShape);
  const read = await transactionsSince(rest, cursor.height);
  const labeled = withSendLabels(read, sends.flatMap(bumpable));
  await labelBumps(rest, read, labeled);
  const listed = standing(labeled);
  const nowMs = wallet.clock.now();
  const unconfirmed = receipts.filter(({ txid }) => !isInBlock(txid, listed));
  spends.follow(
    unconfirmed.toReversed().flatMap(outpointsOf),
    unspentAt(unconfirmed, { block_height, readFrom: cursor.height, nowMs }),
  );
  cursor.height = Math.max(0, block_height - UNSETTLED_BLOCKS);
  const spenders = [...listed, ...spends.spenders(block_height)];
  yield [
    ...wallet.labels.ripe(listed).flatMap((one) => transactionObservations(one, nowMs)),
    ...[...sends, ...receipts].flatMap((one) => replacedPayment(one, spenders, nowMs) ?? []),
  ];
}

function bumpable(payment: Payment): BumpableSend[] {
  const { txid } = payment;
  return txid === null ? [] : [{ payment, txid, outpoints: outpointsOf(payment) }];
}

function isInBlock(txid: string | null, listed: readonly LndTransaction[]): boolean {
  return listed.some(({ tx_hash, num_confirmations }) => tx_hash === txid && num_confirmations > 0);
}

/**
 * A height at which the coins of these receipts were not spent. The last read of the list, and its watch of the coins,
 * reached some blocks beyond `readFrom`. Receipts from before the coins were watched can be older.
 */
function unspentAt(
  receipts: readonly Payment[],
  at: { readonly block_height: number; readonly readFrom: number; readonly nowMs: number },
): number {
  const oldestMs = receipts.reduce((least, one) => Math.min(least, one.createdAtMs), at.nowMs);
  const height = at.block_height - Math.ceil((at.nowMs - oldestMs) / FASTEST_BLOCKS_MS);
  return at.readFrom === 0 ? height : Math.min(height, at.readFrom);
}
