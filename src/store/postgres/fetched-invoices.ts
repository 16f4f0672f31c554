import type { SQL } from 'bun';
import { SIGNED } from '../signed-tables.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';

/** Rows of invoices that were fetched for offers, for ports that write them inside their own transactions. */
export interface FetchedInvoiceRows {
  add(tx: SQL, walletId: string, index: string, invoice: string): Promise<void>;
  get(sql: SQL, walletId: string, index: string): Promise<string | null>;
  remove(tx: SQL, walletId: string, index: string): Promise<void>;
}

interface Columns {
  readonly wallet: string;
  readonly idx: string;
  readonly invoice: string;
}

/** Returns the rows of the table of fetched invoices. A row that does not fit is not there. */
export function fetchedInvoiceRows(signed: SignedRows): FetchedInvoiceRows {
  return {
    async add(tx, walletId, index, invoice) {
      const mac = signed.mac(SIGNED.fetchedInvoice, { wallet: walletId, idx: index, invoice });
      await tx`INSERT INTO wallet_sidecar.fetched_invoice (wallet, idx, invoice, mac)
        VALUES (${walletId}, ${index}, ${invoice}, ${mac})`;
    },
    async get(sql, walletId, index) {
      const [row] = await sql<RawRow[]>`
        SELECT * FROM wallet_sidecar.fetched_invoice WHERE wallet = ${walletId} AND idx = ${index}`;
      return row ? readInvoice(signed, row) : null;
    },
    async remove(tx, walletId, index) {
      await tx`DELETE FROM wallet_sidecar.fetched_invoice WHERE wallet = ${walletId} AND idx = ${index}`;
    },
  };
}

/** Returns the invoice of a row; null where the row does not fit. */
export function readInvoice(signed: SignedRows, row: RawRow): string | null {
  return signed.read<Columns>(SIGNED.fetchedInvoice, row)?.invoice ?? null;
}
