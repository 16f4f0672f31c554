import type { Database } from 'bun:sqlite';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { columnList, rowWriter, type Stored } from './signed-table.ts';

/** Rows of invoices that were fetched for offers, for ports that write them inside their own transactions. */
export interface FetchedInvoiceRows {
  add(walletId: string, index: string, invoice: string): void;
  get(walletId: string, index: string): string | null;
  remove(walletId: string, index: string): void;
}

type Row = Stored<{
  readonly wallet: string;
  readonly idx: string;
  readonly invoice: string;
}>;

/** Prepares the statements of the table of fetched invoices. */
export function fetchedInvoiceRows(db: Database, signer: RowSigner): FetchedInvoiceRows {
  const insert = rowWriter(db, signer, SIGNED.fetchedInvoice);
  const read = db.prepare<Row, [string, string]>(
    `SELECT ${columnList(SIGNED.fetchedInvoice)} FROM fetched_invoice WHERE wallet = ? AND idx = ?`,
  );
  const remove = db.prepare('DELETE FROM fetched_invoice WHERE wallet = ? AND idx = ?');
  return {
    add: (walletId, index, invoice) => void insert({ wallet: walletId, idx: index, invoice }),
    get(walletId, index) {
      const row = read.get(walletId, index);
      return row && signer.fits(SIGNED.fetchedInvoice, row) ? row.invoice : null;
    },
    remove: (walletId, index) => void remove.run(walletId, index),
  };
}
