import type { PaymentIndex } from '../../../model/payment-index.ts';
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

/** Stores an invoice that can be paid, within the caller's transaction. */
export function insertInvoice(world: World, row: InvoiceRow): void {
  world.db
    .query(
      `INSERT INTO invoices (payment_hash, user_pk, idx, preimage, behavior, expires_ms, offer_id,
         payer_name, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      row.paymentHash,
      row.userPk,
      row.index,
      row.preimage,
      row.behavior,
      row.expiresAtMs,
      row.offerId,
      row.payerName,
      row.message,
    );
}

/** Stores what lets a node receive a spontaneous payment, within the caller's transaction. */
export function insertSpontaneous(
  world: World,
  payment: Pick<InvoiceRow, 'paymentHash' | 'userPk' | 'preimage' | 'message'>,
): void {
  insertInvoice(world, {
    ...payment,
    index: null,
    behavior: 'settle',
    expiresAtMs: Number.MAX_SAFE_INTEGER,
    offerId: null,
    payerName: null,
  });
}

/** The unpaid invoice of a payment hash; null when it was paid, or when this world has none. */
export function findUnpaidInvoice(world: World, paymentHash: string): InvoiceRow | null {
  const row = world.db
    .query<
      {
        payment_hash: string;
        user_pk: string | null;
        idx: string | null;
        preimage: string;
        behavior: Behavior;
        expires_ms: number;
        offer_id: string | null;
        payer_name: string | null;
        message: string | null;
      },
      [string]
    >('SELECT * FROM invoices WHERE payment_hash = ? AND settled = 0')
    .get(paymentHash);
  return (
    row && {
      paymentHash: row.payment_hash,
      userPk: row.user_pk,
      index: row.idx as PaymentIndex | null,
      preimage: row.preimage,
      behavior: row.behavior,
      expiresAtMs: row.expires_ms,
      offerId: row.offer_id,
      payerName: row.payer_name,
      message: row.message,
    }
  );
}

/** Marks an invoice paid, within the caller's transaction; it cannot be paid again. */
export function markSettled(world: World, paymentHash: string): void {
  world.db.query('UPDATE invoices SET settled = 1 WHERE payment_hash = ?').run(paymentHash);
}
