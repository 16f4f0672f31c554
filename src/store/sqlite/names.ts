import type { Database } from 'bun:sqlite';
import type { PaymentId } from '../../model/payment-index.ts';

/** Rows of the unpaid invoices of names, for the transaction that ends a payment. */
export interface NameInvoiceRows {
  remove(walletId: string, id: PaymentId): void;
}

/** Prepares the statements of the table of unpaid invoices of names. */
export function nameInvoiceRows(db: Database): NameInvoiceRows {
  const remove = db.prepare('DELETE FROM name_invoice WHERE wallet = ? AND id = ?');
  return { remove: (walletId, id) => void remove.run(walletId, id) };
}
