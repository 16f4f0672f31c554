import type { Database } from 'bun:sqlite';

/** Rows of invoices that were fetched for offers, for ports that write them inside their own transactions. */
export interface FetchedInvoiceRows {
  add(walletId: string, index: string, invoice: string): void;
  get(walletId: string, index: string): string | null;
  remove(walletId: string, index: string): void;
}

/** Prepares the statements of the table of fetched invoices. */
export function fetchedInvoiceRows(db: Database): FetchedInvoiceRows {
  const insert = db.prepare('INSERT INTO fetched_invoice (wallet, idx, invoice) VALUES (?, ?, ?)');
  const read = db.prepare<{ invoice: string }, [string, string]>(
    'SELECT invoice FROM fetched_invoice WHERE wallet = ? AND idx = ?',
  );
  const remove = db.prepare('DELETE FROM fetched_invoice WHERE wallet = ? AND idx = ?');
  return {
    add: (walletId, index, invoice) => void insert.run(walletId, index, invoice),
    get: (walletId, index) => read.get(walletId, index)?.invoice ?? null,
    remove: (walletId, index) => void remove.run(walletId, index),
  };
}
