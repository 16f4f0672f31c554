/** Scopes and the permissions that each grants (docs/decisions.md 59). */
const SCOPE_TABLE = {
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
} as const;

/** Permissions that no scope but `full` grants (docs/decisions.md 162, 187). */
const BESIDE_SCOPES = ['manage_webhooks', 'approve_payments'] as const;

/** The name of a permission. Names of permissions may change (docs/api.md, Compatibility). */
export type Permission =
  | (typeof SCOPE_TABLE)[keyof typeof SCOPE_TABLE][number]
  | (typeof BESIDE_SCOPES)[number];
/** The name of a scope, which never changes. `full` grants all permissions. */
export type Scope = keyof typeof SCOPE_TABLE | 'full';

/** Every permission, in the order of the table. */
export const PERMISSIONS: readonly Permission[] = [
  ...Object.values(SCOPE_TABLE).flat(),
  ...BESIDE_SCOPES,
];

/** Every scope with its permissions. */
export const SCOPES: Readonly<Record<Scope, readonly Permission[]>> = {
  ...SCOPE_TABLE,
  full: PERMISSIONS,
};

/** The names of all scopes. */
export const SCOPE_NAMES = Object.keys(SCOPES) as [Scope, ...Scope[]];

/** Permissions that can cost money. Opening and closing channels costs fees. */
export const SPENDING: readonly Permission[] = [
  'pay_invoice',
  'pay_offer',
  'pay_onchain',
  'open_channel',
  'close_channel',
];

/** Returns whether the scopes and the single permissions together hold a permission. */
export function isGranted(
  permission: Permission,
  { scopes, permissions }: { scopes: readonly Scope[]; permissions: readonly Permission[] },
): boolean {
  return (
    permissions.includes(permission) || scopes.some((scope) => SCOPES[scope].includes(permission))
  );
}

/** Returns the permissions of the scopes and the single ones together, each once, in the order of the table. */
export function effectivePermissions(
  scopes: readonly Scope[],
  permissions: readonly Permission[],
): Permission[] {
  const granted = new Set<Permission>([
    ...scopes.flatMap((scope) => SCOPES[scope]),
    ...permissions,
  ]);
  return PERMISSIONS.filter((permission) => granted.has(permission));
}
