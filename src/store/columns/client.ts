import type { BudgetState, ClientRecord } from '../../model/clients/client.ts';
import type { Permission, Scope } from '../../model/clients/permissions.ts';

/** The columns of a client that are signed, the same in both engines. */
export interface ClientColumns {
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
  readonly budget_state: BudgetState;
  readonly token: string | null;
  readonly ended_token_ids: string;
  readonly approve_above_msat: string | null;
  readonly origins: string | null;
  /** 1, or null. */
  readonly own: number | null;
}

/** Returns the columns of a client. */
export function columnsOfClient(record: ClientRecord): ClientColumns {
  return {
    wallet: record.walletId,
    client_pk: record.clientPk,
    node_kind: record.nodeKind,
    parent_pk: record.parentPk,
    secret_hash: record.secretHash,
    created_at: record.createdAtMs,
    expires_at: record.expiresAtMs,
    label: record.label,
    scopes: JSON.stringify(record.scopes),
    permissions: JSON.stringify(record.permissions),
    revoked_at: record.revokedAtMs,
    budget_state: record.budgetState,
    token: record.token && JSON.stringify(record.token),
    ended_token_ids: JSON.stringify(record.endedTokenIds),
    approve_above_msat: record.approveAboveMsat?.toString() ?? null,
    origins: record.origins && JSON.stringify(record.origins),
    own: record.own ? 1 : null,
  };
}

/** Returns the client of these columns. */
export function clientOf(columns: ClientColumns): ClientRecord {
  const { approve_above_msat: above, origins } = columns;
  return {
    walletId: columns.wallet,
    clientPk: columns.client_pk,
    nodeKind: columns.node_kind,
    parentPk: columns.parent_pk,
    secretHash: columns.secret_hash,
    createdAtMs: columns.created_at,
    expiresAtMs: columns.expires_at,
    label: columns.label,
    scopes: JSON.parse(columns.scopes) as Scope[],
    permissions: JSON.parse(columns.permissions) as Permission[],
    revokedAtMs: columns.revoked_at,
    budgetState: columns.budget_state,
    token: columns.token === null ? null : (JSON.parse(columns.token) as ClientRecord['token']),
    endedTokenIds: JSON.parse(columns.ended_token_ids) as string[],
    approveAboveMsat: above === null ? null : BigInt(above),
    origins: origins === null ? null : (JSON.parse(origins) as string[]),
    own: columns.own === 1,
  };
}
