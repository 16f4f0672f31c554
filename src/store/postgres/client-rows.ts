import type { SQL } from 'bun';
import type { BudgetState, ClientRecord } from '../../model/clients/client.ts';
import { type ClientColumns, clientOf, columnsOfClient } from '../columns/client.ts';
import { SIGNED } from '../signed-tables.ts';
import type { RawRow, SignedRows } from './signed-rows.ts';
import { textJson } from './values.ts';

/** Rows of the table of clients, for ports that read and write them inside their own transactions. */
export interface ClientRows {
  find(sql: SQL, clientPk: string): Promise<ClientRecord | null>;
  /** The wallet's clients, oldest first. */
  list(sql: SQL, walletId: string): Promise<ClientRecord[]>;
  /** Throws where the client belongs to another wallet. */
  put(tx: SQL, walletId: string, record: ClientRecord): Promise<void>;
  /**
   * Whether the client has a budget. A client spends only by its row, so one whose row does not fit or was taken away
   * meanwhile counts as having one, and spends nothing.
   */
  budgetState(sql: SQL, walletId: string, clientPk: string): Promise<BudgetState>;
}

/** Returns the rows of the table of clients. Tokens of the node are sealed. A row that does not fit is not there. */
export function clientRows(signed: SignedRows): ClientRows {
  const ofKey = async (sql: SQL, clientPk: string): Promise<RawRow | undefined> => {
    const [row] = await sql<RawRow[]>`
      SELECT * FROM wallet_sidecar.client WHERE client_pk = ${clientPk}`;
    return row;
  };
  const read = (row: RawRow) => signed.read<ClientColumns>(SIGNED.client, row);
  return {
    async find(sql, clientPk) {
      const row = await ofKey(sql, clientPk);
      const columns = row ? read(row) : null;
      return columns && clientOf(columns);
    },
    async list(sql, walletId) {
      const rows = await sql<RawRow[]>`
        SELECT * FROM wallet_sidecar.client WHERE wallet = ${walletId} ORDER BY created_at, seq`;
      return signed.readAll<ClientColumns>(SIGNED.client, rows).map(clientOf);
    },
    async put(tx, walletId, record) {
      const row = columnsOfClient(record);
      const { count } = await tx`
        INSERT INTO wallet_sidecar.client (wallet, client_pk, node_kind, parent_pk, secret_hash, created_at, expires_at, label_json,
          scopes, permissions, revoked_at, budget_state, sealed_token, ended_token_ids, mac)
        VALUES (${walletId}, ${row.client_pk}, ${row.node_kind}, ${row.parent_pk}, ${row.secret_hash},
          ${row.created_at}, ${row.expires_at}, ${textJson(row.label)}, ${row.scopes}, ${row.permissions},
          ${row.revoked_at}, ${row.budget_state}, ${signed.seal(SIGNED.client, { ...row }, 'token')},
          ${row.ended_token_ids}, ${signed.mac(SIGNED.client, row)})
        ON CONFLICT (client_pk) DO UPDATE SET node_kind = excluded.node_kind, parent_pk = excluded.parent_pk,
          secret_hash = excluded.secret_hash, created_at = excluded.created_at, expires_at = excluded.expires_at,
          label_json = excluded.label_json, scopes = excluded.scopes, permissions = excluded.permissions,
          revoked_at = excluded.revoked_at, budget_state = excluded.budget_state, sealed_token = excluded.sealed_token,
          ended_token_ids = excluded.ended_token_ids, mac = excluded.mac
        WHERE client.wallet = excluded.wallet`;
      if (record.walletId !== walletId || count === 0) {
        throw new Error(`Client ${record.clientPk} belongs to another wallet.`);
      }
    },
    async budgetState(sql, walletId, clientPk) {
      const row = await ofKey(sql, clientPk);
      const columns = row?.wallet === walletId ? read(row) : null;
      return columns?.budget_state ?? 'set';
    },
  };
}
