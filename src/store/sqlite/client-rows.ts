import type { Database } from 'bun:sqlite';
import type { BudgetState, ClientRecord } from '../../model/clients/client.ts';
import { type ClientColumns, clientOf, columnsOfClient } from '../columns/client.ts';
import type { RowSigner } from '../row-signer.ts';
import { SIGNED } from '../signed-tables.ts';
import { columnList, rowWriter, type Stored } from './signed-table.ts';

/** Rows of the table of clients, for ports that read and write them inside their own transactions. */
export interface ClientRows {
  find(clientPk: string): ClientRecord | null;
  /** The wallet's clients, oldest first. */
  list(walletId: string): ClientRecord[];
  /** Throws where the client belongs to another wallet. */
  put(walletId: string, record: ClientRecord): void;
  /**
   * Whether the client has a budget. A client spends only by its row, so one whose row does not fit or was taken away
   * meanwhile counts as having one, and spends nothing.
   */
  budgetState(walletId: string, clientPk: string): BudgetState;
}

type Row = Stored<ClientColumns>;

const COLUMNS = columnList(SIGNED.client);

/** Prepares the statements of the table of clients. A row that does not fit is not there. */
export function clientRows(db: Database, signer: RowSigner): ClientRows {
  const find = db.prepare<Row, [string]>(`SELECT ${COLUMNS} FROM client WHERE client_pk = ?`);
  const list = db.prepare<Row, [string]>(
    `SELECT ${COLUMNS} FROM client WHERE wallet = ? ORDER BY created_at, seq`,
  );
  const put = rowWriter(db, signer, SIGNED.client, {
    onConflict: `ON CONFLICT (client_pk) DO UPDATE SET node_kind = excluded.node_kind, parent_pk = excluded.parent_pk,
       secret_hash = excluded.secret_hash, created_at = excluded.created_at, expires_at = excluded.expires_at,
       label = excluded.label, scopes = excluded.scopes, permissions = excluded.permissions,
       revoked_at = excluded.revoked_at, budget_state = excluded.budget_state, token = excluded.token,
       ended_token_ids = excluded.ended_token_ids, mac = excluded.mac
     WHERE wallet = excluded.wallet`,
  });
  const fits = (row: Row) => signer.fits(SIGNED.client, row);
  return {
    find(clientPk) {
      const row = find.get(clientPk);
      return row && fits(row) ? clientOf(row) : null;
    },
    list: (walletId) => list.all(walletId).filter(fits).map(clientOf),
    put(walletId, record) {
      const written = put(columnsOfClient(record));
      if (record.walletId !== walletId || written === 0) {
        throw new Error(`Client ${record.clientPk} belongs to another wallet.`);
      }
    },
    budgetState(walletId, clientPk) {
      const row = find.get(clientPk);
      return row?.wallet === walletId && fits(row) ? row.budget_state : 'set';
    },
  };
}
