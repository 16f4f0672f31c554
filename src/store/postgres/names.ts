import type { SQL } from 'bun';
import type { PaymentId } from '../../model/payment-index.ts';
import { columnsOfName, type NameColumns, nameOf } from '../columns/name.ts';
import type { NameRecord, NameStore } from '../ports.ts';
import { SIGNED } from '../signed-tables.ts';
import { type Database, NAMES } from './database.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import { together } from './together.ts';

/** Rows of the unpaid invoices of names, for the transaction that ends a payment. */
export const nameInvoiceRows = {
  async remove(tx: SQL, walletId: string, id: PaymentId): Promise<void> {
    await tx`DELETE FROM wallet_sidecar.name_invoice WHERE wallet = ${walletId} AND id = ${id}`;
  },
};

/** Returns the {@link NameStore} over PostgreSQL. A name whose row does not fit is not there. */
export function postgresNames(db: Database, signed: SignedRows): NameStore {
  const recordOf = ([row]: readonly RawRow[]): NameRecord | null => {
    const columns = row ? signed.read<NameColumns>(SIGNED.name, row) : null;
    return columns && nameOf(columns);
  };
  const ofWallet = async (sql: SQL, walletId: string) =>
    recordOf(await sql<RawRow[]>`SELECT * FROM wallet_sidecar.name WHERE wallet = ${walletId}`);
  const find = async (sql: SQL, username: string) =>
    recordOf(await sql<RawRow[]>`SELECT * FROM wallet_sidecar.name WHERE username = ${username}`);
  return {
    ofWallet: (walletId) => db.read((sql) => ofWallet(sql, walletId)),
    find: (username) => db.read((sql) => find(sql, username)),
    claim: (walletId, username, decide) =>
      db.write(NAMES, async (tx) => {
        const record = decide({
          current: await ofWallet(tx, walletId),
          holder: await find(tx, username),
        });
        const row = columnsOfName(record);
        await tx`INSERT INTO wallet_sidecar.name (wallet, node_kind, username, offer, window_at, mac)
          VALUES (${row.wallet}, ${row.node_kind}, ${row.username}, ${row.offer}, ${row.window_at},
            ${signed.mac(SIGNED.name, row)})
          ON CONFLICT (wallet) DO UPDATE SET node_kind = excluded.node_kind, username = excluded.username,
            offer = excluded.offer, window_at = excluded.window_at, mac = excluded.mac`;
        return record;
      }),
    takePlace: (walletId, { id, source, expiresAtMs }, { nowMs, most, mostOfSource }) =>
      db.write(walletId, async (tx) => {
        const [, [taken]] = await together([
          tx`DELETE FROM wallet_sidecar.name_invoice WHERE wallet = ${walletId} AND expires_at <= ${nowMs}`,
          tx<{ open: number; of_source: number }[]>`
            SELECT count(*)::int AS open, (count(*) FILTER (WHERE source = ${source}))::int AS of_source
            FROM wallet_sidecar.name_invoice WHERE wallet = ${walletId} AND expires_at > ${nowMs}`,
        ]);
        const { open = 0, of_source = 0 } = taken ?? {};
        if (open >= most || of_source >= mostOfSource) return false;
        await tx`INSERT INTO wallet_sidecar.name_invoice (wallet, id, source, expires_at)
          VALUES (${walletId}, ${id}, ${source}, ${expiresAtMs})`;
        return true;
      }),
    givePlaceBack: (walletId, id) =>
      db.write(walletId, (tx) => nameInvoiceRows.remove(tx, walletId, id)),
  };
}
