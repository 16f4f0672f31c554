import type { SQL } from 'bun';
import type { PaymentId } from '../../model/payment-index.ts';

/** Rows of the unpaid invoices of names, for the transaction that ends a payment. */
export const nameInvoiceRows = {
  async remove(tx: SQL, walletId: string, id: PaymentId): Promise<void> {
    await tx`DELETE FROM wallet_sidecar.name_invoice WHERE wallet = ${walletId} AND id = ${id}`;
  },
};
