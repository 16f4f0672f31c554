import type { SQL } from 'bun';

/** Rows of invoices that were fetched for offers, for ports that write them inside their own transactions. */
export const fetchedInvoiceRows = {
  async add(tx: SQL, walletId: string, index: string, invoice: string): Promise<void> {
    await tx`INSERT INTO wallet_sidecar.fetched_invoice (wallet, idx, invoice) VALUES (${walletId}, ${index}, ${invoice})`;
  },
  async get(sql: SQL, walletId: string, index: string): Promise<string | null> {
    const [row] = await sql<{ invoice: string }[]>`
      SELECT invoice FROM wallet_sidecar.fetched_invoice WHERE wallet = ${walletId} AND idx = ${index}`;
    return row?.invoice ?? null;
  },
  async remove(tx: SQL, walletId: string, index: string): Promise<void> {
    await tx`DELETE FROM wallet_sidecar.fetched_invoice WHERE wallet = ${walletId} AND idx = ${index}`;
  },
};
