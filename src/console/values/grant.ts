import type { ClientInfo, Permission, Scope } from '../../client/index.ts';

/**
 * The permissions of each scope, in the order in which scopes are shown. The API names the scopes and not what each of
 * them grants; a test compares this table with the server's.
 */
const SCOPE_PERMISSIONS: Readonly<Record<Exclude<Scope, 'full'>, readonly Permission[]>> = {
  read_info: ['node_info', 'list_channels', 'get_human_bitcoin_address'],
  read_payments: [
    'get_payments_by_indexes',
    'get_new_payments',
    'get_updated_payments',
    'get_payment_by_id',
    'list_broadcasted_txs',
  ],
  receive: [
    'get_next_unused_address',
    'create_invoice',
    'create_offer',
    'resync',
    'cancel_payment',
  ],
  send: ['pay_invoice', 'pay_offer', 'pay_onchain', 'create_payer_proof'],
  annotate: ['update_personal_note'],
  manage_address: ['update_human_bitcoin_address'],
  manage_channels: ['open_channel', 'close_channel'],
  manage_clients: ['list_clients', 'create_client', 'update_client', 'revoke_client'],
};

/** Every scope, in the order in which they are shown. */
export const SCOPES: readonly Scope[] = [
  ...(Object.keys(SCOPE_PERMISSIONS) as Exclude<Scope, 'full'>[]),
  'full',
];

/** Permissions that can cost money. */
const SPENDING: ReadonlySet<Permission> = new Set([
  'pay_invoice',
  'pay_offer',
  'pay_onchain',
  'open_channel',
  'close_channel',
]);

/** What decides which other clients somebody may make and change. */
export type Granter = Pick<
  ClientInfo,
  'client_pk' | 'effective_permissions' | 'expires_at' | 'budget'
>;

/** Returns every permission that a scope grants. */
export function permissionsOf(scope: Scope): readonly Permission[] {
  return scope === 'full' ? Object.values(SCOPE_PERMISSIONS).flat() : SCOPE_PERMISSIONS[scope];
}

/** Returns whether any of these scopes and permissions can cost money. */
export function canSpend(scopes: readonly Scope[], permissions: readonly Permission[]): boolean {
  return [...scopes.flatMap(permissionsOf), ...permissions].some((one) => SPENDING.has(one));
}

/** Returns the scopes that somebody can give to a client: no more than their own (docs/decisions.md 61 and 68). */
export function grantableScopes(own: Granter): readonly Scope[] {
  return SCOPES.filter((scope) => {
    const isOwn = permissionsOf(scope).every((one) => own.effective_permissions.includes(one));
    return isOwn && (own.budget === null || !canSpend([scope], []));
  });
}

/**
 * Returns whether somebody may change and revoke a client (docs/decisions.md 63). The sidecar may still reject to widen
 * one that they did not create.
 */
export function reaches(own: Granter, target: ClientInfo): boolean {
  if (own.client_pk === null) return true;
  const isSelf = own.client_pk === target.client_pk;
  const isWithin = target.effective_permissions.every((one) =>
    own.effective_permissions.includes(one),
  );
  const outlives =
    own.expires_at !== null && (target.expires_at === null || target.expires_at > own.expires_at);
  const isCostly = own.budget !== null && canSpend([], target.effective_permissions);
  return isWithin && !outlives && (isSelf || !isCostly);
}
