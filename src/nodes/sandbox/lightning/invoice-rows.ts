import type { PaymentIndex } from '../../../model/payment-index.ts';
import { change, firstRow, insertRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';

/** What the receiver does with a payment (docs/api.md, sandbox); wallets fail none. */
export type Behavior = 'settle' | 'fail' | 'hold';

/** An invoice, or an invoice of an offer, that can be paid over Lightning in this world. */
export interface InvoiceRow {
  readonly paymentHash: string;
  /** The receiving wallet; null for the outside world. */
  readonly userPk: string | null;
  /** The wallet's pending payment; null for BOLT 12 and spontaneous payments, which are made when they arrive. */
  readonly index: PaymentIndex | null;
  /** Empty while only the owner of a hold invoice knows it. */
  readonly preimage: string;
  readonly behavior: Behavior;
  readonly expiresAtMs: number;
  readonly offerId: string | null;
  readonly payerName: string | null;
  readonly message: string | null;
}

/** What the payer of an offer asked for. */
export type FromPayer = 'offerId' | 'payerName' | 'message';

/** Stores an invoice that can be paid, within the caller's transaction. */
export function insertInvoice(
  world: World,
  row: Omit<InvoiceRow, FromPayer> & Partial<Pick<InvoiceRow, FromPayer>>,
): void {
  insertRow(world, 'invoices', {
    payment_hash: row.paymentHash,
    user_pk: row.userPk,
    idx: row.index,
    preimage: row.preimage,
    behavior: row.behavior,
    expires_ms: row.expiresAtMs,
    offer_id: row.offerId ?? null,
    payer_name: row.payerName ?? null,
    message: row.message ?? null,
  });
}

/** The unpaid invoice of a payment hash; null when it was paid, or when this world has none. */
export function findUnpaidInvoice(world: World, paymentHash: string): InvoiceRow | null {
  return firstRow(
    world,
    `SELECT payment_hash AS paymentHash, user_pk AS userPk, idx AS "index", preimage, behavior,
       expires_ms AS expiresAtMs, offer_id AS offerId, payer_name AS payerName, message
     FROM invoices WHERE payment_hash = ? AND settled = 0`,
    paymentHash,
  );
}

/** Marks an invoice paid, within the caller's transaction; it cannot be paid again. */
export function markSettled(world: World, paymentHash: string): void {
  change(world, 'UPDATE invoices SET settled = 1 WHERE payment_hash = ?', paymentHash);
}
