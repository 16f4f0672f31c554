import { SIGNED } from '../signed-tables.ts';
import type { Rows } from './rows.ts';
import type { Steps } from './steps.ts';
import { tableOf } from './table.ts';

/** Rows of invoices that were fetched for offers, for ports that write them inside their own transactions. */
export interface FetchedInvoiceRows {
  add(walletId: string, index: string, invoice: string): Steps<unknown>;
  get(walletId: string, index: string): Steps<string | null>;
  remove(walletId: string, index: string): Steps<unknown>;
}

/** The columns of a fetched invoice that are signed. */
export interface FetchedInvoiceColumns {
  readonly wallet: string;
  readonly idx: string;
  readonly invoice: string;
}

/** Prepares the statements of the table of fetched invoices. A row that does not fit is not there. */
export function fetchedInvoiceRows(rows: Rows): FetchedInvoiceRows {
  const invoices = tableOf<FetchedInvoiceColumns>(rows, SIGNED.fetchedInvoice);
  const insert = invoices.insert();
  const read = invoices.select('WHERE wallet = ? AND idx = ?', {
    of: ({ invoice }) => invoice,
  });
  return {
    add: (wallet, idx, invoice) => insert({ wallet, idx, invoice }),
    get: read.one,
    remove: invoices.remove(),
  };
}
