import type { Database } from 'bun:sqlite';
import type { BudgetState, ClientRecord } from '../../model/client.ts';
import type { Permission, Scope } from '../../model/permissions.ts';
import type { ClientStore } from '../ports.ts';
import type { BudgetRows } from './budgets.ts';
import type { IdempotencyRows } from './idempotency.ts';
import type { StoreCounter } from './identity.ts';
import type { WriteQueue } from './write-queue.ts';

interface Row {
  readonly wallet: string;
  readonly client_pk: string;
  readonly node_kind: string;
  readonly parent_pk: string | null;
  readonly secret_hash: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly label: string | null;
  readonly scopes: string;
  readonly permissions: string;
  readonly revoked_at: number | null;
  readonly budget_state: string;
  readonly token: string | null;
  readonly ended_token_ids: string;
}

const COLUMNS =
  'wallet, client_pk, node_kind, parent_pk, secret_hash, created_at, expires_at, label, scopes, permissions, revoked_at, budget_state, token, ended_token_ids';

/** Returns the {@link ClientStore} over SQLite. */
export function sqliteClients(
  db: Database,
  queue: WriteQueue,
  budgets: BudgetRows,
  outcomes: IdempotencyRows,
  counter: StoreCounter,
): ClientStore {
  const find = db.prepare<Row, [string]>(`SELECT ${COLUMNS} FROM client WHERE client_pk = ?`);
  const list = db.prepare<Row, [string]>(
    `SELECT ${COLUMNS} FROM client WHERE wallet = ? ORDER BY created_at, seq`,
  );
  const put = db.prepare(
    `INSERT INTO client (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (client_pk) DO UPDATE SET node_kind = excluded.node_kind, parent_pk = excluded.parent_pk,
       secret_hash = excluded.secret_hash, created_at = excluded.created_at, expires_at = excluded.expires_at,
       label = excluded.label, scopes = excluded.scopes, permissions = excluded.permissions,
       revoked_at = excluded.revoked_at, budget_state = excluded.budget_state, token = excluded.token,
       ended_token_ids = excluded.ended_token_ids
     WHERE wallet = excluded.wallet`,
  );
  const withBudget = db.prepare<{ found: number }, [number]>(
    `SELECT EXISTS (SELECT 1 FROM client WHERE budget_state = 'set' AND revoked_at IS NULL AND expires_at IS NULL)
       OR EXISTS (SELECT 1 FROM client WHERE budget_state = 'set' AND revoked_at IS NULL AND expires_at > ?)
       AS found`,
  );

  function write(walletId: string, record: ClientRecord): void {
    const written = put.run(
      walletId,
      record.clientPk,
      record.nodeKind,
      record.parentPk,
      record.secretHash,
      record.createdAtMs,
      record.expiresAtMs,
      record.label,
      JSON.stringify(record.scopes),
      JSON.stringify(record.permissions),
      record.revokedAtMs,
      record.budgetState,
      record.token && JSON.stringify(record.token),
      JSON.stringify(record.endedTokenIds),
    );
    if (record.walletId !== walletId || written.changes === 0) {
      throw new Error(`Client ${record.clientPk} belongs to another wallet.`);
    }
  }

  const listAll = (walletId: string) => list.all(walletId).map(decode);
  return {
    async find(clientPk) {
      const row = find.get(clientPk);
      return row && decode(row);
    },
    list: async (walletId) => listAll(walletId),
    change: (walletId, decide) =>
      queue.write(() => {
        const changes = decide(listAll(walletId));
        const { records, budgets: wanted } = changes;
        for (const record of records) {
          write(walletId, record);
          if (record.revokedAtMs !== null) outcomes.forget(walletId, record.clientPk);
        }
        for (const change of wanted) budgets.set(walletId, change);
        if (records.length + wanted.length > 0) counter.advance();
        return changes;
      }),
    anyBudget: async (nowMs) => withBudget.get(nowMs)?.found === 1,
  };
}

function decode(row: Row): ClientRecord {
  return {
    walletId: row.wallet,
    clientPk: row.client_pk,
    nodeKind: row.node_kind,
    parentPk: row.parent_pk,
    secretHash: row.secret_hash,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
    label: row.label,
    scopes: JSON.parse(row.scopes) as Scope[],
    permissions: JSON.parse(row.permissions) as Permission[],
    revokedAtMs: row.revoked_at,
    budgetState: row.budget_state as BudgetState,
    token: row.token === null ? null : (JSON.parse(row.token) as ClientRecord['token']),
    endedTokenIds: JSON.parse(row.ended_token_ids) as string[],
  };
}
