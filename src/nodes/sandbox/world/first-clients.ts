import type { Database } from 'bun:sqlite';
import { hex } from '@scure/base';
import type { Client } from '../../../model/clients/client.ts';
import {
  effectivePermissions,
  type Permission,
  type Scope,
} from '../../../model/clients/permissions.ts';
import { derive } from '../../../model/root-seed.ts';
import type { ClientToken } from '../../node.ts';
import { hashOf } from './token-hash.ts';

/** A client that version 0.1 kept in the sandbox's file, with the token made for it. */
export interface LegacyClient extends Omit<Client, 'approveAboveMsat' | 'origins' | 'own'> {
  /** Hex user_pk. */
  readonly walletId: string;
  /** Hex SHA-256 of the 32 bytes of the secret in the client's credentials. */
  readonly secretHash: string;
  readonly token: ClientToken;
}

/** The data of a client that the migration keeps in its token's row. */
export type FirstClient = Omit<LegacyClient, 'walletId' | 'token' | 'revokedAtMs'>;

interface ClientRow {
  readonly client_pk: string;
  readonly user_pk: string;
  readonly secret_hash: Uint8Array;
  readonly scopes: string;
  readonly permissions: string;
  readonly label: string | null;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly revoked_ms: number | null;
  readonly node_secret_key: Uint8Array;
}

/** Makes a token for every client of version 0.1 and drops their table, within the transaction of the migration. */
export function replaceFirstClients(db: Database): void {
  const rows = db
    .query<ClientRow, []>(
      'SELECT c.*, w.node_secret_key FROM clients c JOIN wallets w ON w.user_pk = c.user_pk',
    )
    .all();
  const insert = db.query(
    `INSERT INTO tokens (id, user_pk, token_hash, permissions, expires_ms, revoked_ms, first_client)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const row of rows) {
    const scopes = JSON.parse(row.scopes) as Scope[];
    const permissions = JSON.parse(row.permissions) as Permission[];
    const first: FirstClient = {
      clientPk: row.client_pk,
      secretHash: hex.encode(row.secret_hash),
      scopes,
      permissions,
      label: row.label,
      createdAtMs: row.created_ms,
      expiresAtMs: row.expires_ms,
    };
    insert.run(
      row.client_pk,
      row.user_pk,
      hashOf(tokenText(row.node_secret_key, row.client_pk)),
      JSON.stringify(effectivePermissions(scopes, permissions)),
      row.expires_ms,
      row.revoked_ms,
      JSON.stringify(first),
    );
  }
  db.run('DROP TABLE clients');
}

/** The token of a client of version 0.1, derived, because the file holds only its hash. */
export function tokenText(nodeSecretKey: Uint8Array, clientPk: string): string {
  return hex.encode(derive(nodeSecretKey, `first version's client/${clientPk}`));
}
