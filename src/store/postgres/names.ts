import type { SQL } from 'bun';
import type { PaymentId } from '../../model/payment-index.ts';
import type { NameRecord, NameStore } from '../ports.ts';
import { type Database, NAMES } from './database.ts';
import { together } from './together.ts';
import { numberOf } from './values.ts';

interface Row {
  readonly wallet: string;
  readonly node_kind: string;
  readonly username: string;
  readonly offer: string | null;
  readonly window_at: bigint;
}

/** Rows of the unpaid invoices of names, for the transaction that ends a payment. */
export const nameInvoiceRows = {
  async remove(tx: SQL, walletId: string, id: PaymentId): Promise<void> {
    await tx`DELETE FROM wallet_sidecar.name_invoice WHERE wallet = ${walletId} AND id = ${id}`;
  },
};

async function ofWallet(sql: SQL, walletId: string): Promise<NameRecord | null> {
  const [row] = await sql<Row[]>`SELECT * FROM wallet_sidecar.name WHERE wallet = ${walletId}`;
  return recordOf(row);
}

async function find(sql: SQL, username: string): Promise<NameRecord | null> {
  const [row] = await sql<Row[]>`SELECT * FROM wallet_sidecar.name WHERE username = ${username}`;
  return recordOf(row);
}

/** Returns the {@link NameStore} over PostgreSQL. */
export function postgresNames(db: Database): NameStore {
  return {
    ofWallet: (walletId) => db.read((sql) => ofWallet(sql, walletId)),
    find: (username) => db.read((sql) => find(sql, username)),
    claim: (walletId, username, decide) =>
      db.write(NAMES, async (tx) => {
        const record = decide({
          current: await ofWallet(tx, walletId),
          holder: await find(tx, username),
        });
        await tx`INSERT INTO wallet_sidecar.name (wallet, node_kind, username, offer, window_at)
          VALUES (${record.walletId}, ${record.nodeKind}, ${record.username}, ${record.offer}, ${record.windowAtMs})
          ON CONFLICT (wallet) DO UPDATE SET node_kind = excluded.node_kind, username = excluded.username,
            offer = excluded.offer, window_at = excluded.window_at`;
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

function recordOf(row: Row | undefined): NameRecord | null {
  return row
    ? {
        walletId: row.wallet,
        nodeKind: row.node_kind,
        username: row.username,
        offer: row.offer,
        windowAtMs: numberOf(row.window_at),
      }
    : null;
}
