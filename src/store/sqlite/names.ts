import type { Database } from 'bun:sqlite';
import type { PaymentId } from '../../model/payment-index.ts';
import { columnsOfName, type NameColumns, nameOf } from '../columns/name.ts';
import type { NameStore } from '../ports.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { columnList, rowWriter, type Stored } from './signed-table.ts';
import type { WriteQueue } from './write-queue.ts';

type Row = Stored<NameColumns>;

const COLUMNS = columnList(SIGNED.name);

/** Rows of the unpaid invoices of names, for the transaction that ends a payment. */
export interface NameInvoiceRows {
  remove(walletId: string, id: PaymentId): void;
}

/** Prepares the statements of the table of unpaid invoices of names. */
export function nameInvoiceRows(db: Database): NameInvoiceRows {
  const remove = db.prepare('DELETE FROM name_invoice WHERE wallet = ? AND id = ?');
  return { remove: (walletId, id) => void remove.run(walletId, id) };
}

/** Returns the {@link NameStore} over SQLite. */
export function sqliteNames(
  db: Database,
  queue: WriteQueue,
  invoices: NameInvoiceRows,
  signer: RowSigner,
): NameStore {
  const byWallet = db.prepare<Row, [string]>(`SELECT ${COLUMNS} FROM name WHERE wallet = ?`);
  const byUsername = db.prepare<Row, [string]>(`SELECT ${COLUMNS} FROM name WHERE username = ?`);
  const put = rowWriter(db, signer, SIGNED.name, {
    onConflict: `ON CONFLICT (wallet) DO UPDATE SET node_kind = excluded.node_kind,
       username = excluded.username, offer = excluded.offer, window_at = excluded.window_at, mac = excluded.mac`,
  });
  const forgetExpired = db.prepare('DELETE FROM name_invoice WHERE wallet = ? AND expires_at <= ?');
  const count = db.prepare<{ open: number; of_source: number }, [string, string]>(
    `SELECT count(*) AS open, count(*) FILTER (WHERE source = ?) AS of_source
     FROM name_invoice WHERE wallet = ?`,
  );
  const insert = db.prepare(
    'INSERT INTO name_invoice (wallet, id, source, expires_at) VALUES (?, ?, ?, ?)',
  );
  const recordOf = (row: Row | null) => (row && signer.fits(SIGNED.name, row) ? nameOf(row) : null);
  return {
    ofWallet: async (walletId) => recordOf(byWallet.get(walletId)),
    find: async (username) => recordOf(byUsername.get(username)),
    claim: (walletId, username, decide) =>
      queue.write(() => {
        const record = decide({
          current: recordOf(byWallet.get(walletId)),
          holder: recordOf(byUsername.get(username)),
        });
        put(columnsOfName(record));
        return record;
      }),
    takePlace: (walletId, { id, source, expiresAtMs }, { nowMs, most, mostOfSource }) =>
      queue.write(() => {
        forgetExpired.run(walletId, nowMs);
        const { open = 0, of_source = 0 } = count.get(source, walletId) ?? {};
        if (open >= most || of_source >= mostOfSource) return false;
        insert.run(walletId, id, source, expiresAtMs);
        return true;
      }),
    givePlaceBack: (walletId, id) => queue.write(() => invoices.remove(walletId, id)),
  };
}
