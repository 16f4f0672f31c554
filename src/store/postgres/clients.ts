import type { SQL } from 'bun';
import type { Sealer } from '../../lib/seal.ts';
import type { BudgetState, ClientRecord } from '../../model/client.ts';
import type { Permission, Scope } from '../../model/permissions.ts';
import type { ClientStore } from '../ports.ts';
import { budgetRows } from './budgets.ts';
import type { Database } from './database.ts';
import { idempotencyRows } from './idempotency.ts';
import { numberOf, numberOrNull, textJson, textOf } from './values.ts';

interface Row {
  readonly wallet: string;
  readonly client_pk: string;
  readonly node_kind: string;
  readonly parent_pk: string | null;
  readonly secret_hash: string;
  readonly created_at: bigint;
  readonly expires_at: bigint | null;
  readonly label_json: string;
  readonly scopes: string;
  readonly permissions: string;
  readonly revoked_at: bigint | null;
  readonly budget_state: string;
  readonly sealed_token: string | null;
  readonly ended_token_ids: string;
}

/** Returns the {@link ClientStore} over PostgreSQL. Tokens of the node are sealed. */
export function postgresClients(db: Database, sealer: Sealer): ClientStore {
  const list = async (sql: SQL, walletId: string): Promise<ClientRecord[]> => {
    const rows = await sql<Row[]>`
      SELECT * FROM wallet_sidecar.client WHERE wallet = ${walletId} ORDER BY created_at, seq`;
    return rows.map((row) => decode(row, sealer));
  };
  return {
    async find(clientPk) {
      const [row] = await db.read(
        (sql) => sql<Row[]>`SELECT * FROM wallet_sidecar.client WHERE client_pk = ${clientPk}`,
      );
      return row ? decode(row, sealer) : null;
    },
    list: (walletId) => db.read((sql) => list(sql, walletId)),
    change: (walletId, decide) =>
      db.write(walletId, async (tx, joint) => {
        const changes = decide(await list(tx, walletId));
        const { records, budgets } = changes;
        for (const record of records) {
          await put(tx, walletId, record, sealer);
          if (record.revokedAtMs !== null) {
            await idempotencyRows.forget(tx, walletId, record.clientPk);
          }
        }
        for (const change of budgets) await budgetRows.set(tx, walletId, change);
        if (records.length + budgets.length > 0) joint.advanceCounter();
        return changes;
      }),
    async anyBudget(nowMs) {
      const rows = await db.read(
        (
          sql,
        ) => sql`SELECT 1 FROM wallet_sidecar.client WHERE budget_state = 'set' AND revoked_at IS NULL
          AND (expires_at IS NULL OR expires_at > ${nowMs}) LIMIT 1`,
      );
      return rows.length > 0;
    },
  };
}

async function put(tx: SQL, walletId: string, record: ClientRecord, sealer: Sealer): Promise<void> {
  const { clientPk, token } = record;
  const sealed = token && sealer.seal(JSON.stringify(token), place(walletId, clientPk));
  const { count } = await tx`
    INSERT INTO wallet_sidecar.client (wallet, client_pk, node_kind, parent_pk, secret_hash, created_at, expires_at, label_json,
      scopes, permissions, revoked_at, budget_state, sealed_token, ended_token_ids)
    VALUES (${walletId}, ${clientPk}, ${record.nodeKind}, ${record.parentPk}, ${record.secretHash},
      ${record.createdAtMs}, ${record.expiresAtMs}, ${textJson(record.label)}, ${JSON.stringify(record.scopes)},
      ${JSON.stringify(record.permissions)}, ${record.revokedAtMs}, ${record.budgetState}, ${sealed},
      ${JSON.stringify(record.endedTokenIds)})
    ON CONFLICT (client_pk) DO UPDATE SET node_kind = excluded.node_kind, parent_pk = excluded.parent_pk,
      secret_hash = excluded.secret_hash, created_at = excluded.created_at, expires_at = excluded.expires_at,
      label_json = excluded.label_json, scopes = excluded.scopes, permissions = excluded.permissions,
      revoked_at = excluded.revoked_at, budget_state = excluded.budget_state, sealed_token = excluded.sealed_token,
      ended_token_ids = excluded.ended_token_ids
    WHERE client.wallet = excluded.wallet`;
  if (record.walletId !== walletId || count === 0) {
    throw new Error(`Client ${clientPk} belongs to another wallet.`);
  }
}

function place(walletId: string, clientPk: string) {
  return { table: 'client', column: 'sealed_token', row: [walletId, clientPk] };
}

function decode(row: Row, sealer: Sealer): ClientRecord {
  const { wallet: walletId, client_pk: clientPk, sealed_token: sealed } = row;
  return {
    walletId,
    clientPk,
    nodeKind: row.node_kind,
    parentPk: row.parent_pk,
    secretHash: row.secret_hash,
    createdAtMs: numberOf(row.created_at),
    expiresAtMs: numberOrNull(row.expires_at),
    label: textOf(row.label_json),
    scopes: JSON.parse(row.scopes) as Scope[],
    permissions: JSON.parse(row.permissions) as Permission[],
    revokedAtMs: numberOrNull(row.revoked_at),
    budgetState: row.budget_state as BudgetState,
    token:
      sealed === null
        ? null
        : (JSON.parse(sealer.open(sealed, place(walletId, clientPk))) as ClientRecord['token']),
    endedTokenIds: JSON.parse(row.ended_token_ids) as string[],
  };
}
