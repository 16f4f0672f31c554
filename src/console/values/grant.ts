import { SCOPES as PERMISSIONS_OF, SPENDING } from '../../client/generated/permissions.ts';
import { type ClientInfo, type Permission, type Scope, toMsat } from '../../client/index.ts';

/** Every scope, in the order in which they are shown. */
export const SCOPES = Object.keys(PERMISSIONS_OF) as readonly Scope[];

/** What decides which other clients somebody may make and change. */
export type Granter = Pick<
  ClientInfo,
  'client_pk' | 'effective_permissions' | 'expires_at' | 'budget' | 'approve_above' | 'own'
>;

/** Returns whether any of these scopes and permissions can cost money. */
export function canSpend(scopes: readonly Scope[], permissions: readonly Permission[]): boolean {
  return [...scopes.flatMap((scope) => PERMISSIONS_OF[scope]), ...permissions].some((one) =>
    SPENDING.includes(one),
  );
}

/** Returns the scopes that somebody can give to a client: no more than their own (docs/decisions.md 61 and 68). */
export function grantableScopes(own: Granter): readonly Scope[] {
  return SCOPES.filter((scope) => {
    const isOwn = PERMISSIONS_OF[scope].every((one) => own.effective_permissions.includes(one));
    return isOwn && (own.budget === null || !canSpend([scope], []));
  });
}

/**
 * Returns whether somebody may change and revoke a client (docs/decisions.md 63 and 187). The sidecar may still reject
 * to widen one that they did not create.
 */
export function reaches(own: Granter, target: ClientInfo): boolean {
  if (own.client_pk === null) return true;
  const isSelf = own.client_pk === target.client_pk;
  const isWithin = target.effective_permissions.every((one) =>
    own.effective_permissions.includes(one),
  );
  const outlives =
    own.expires_at !== null && (target.expires_at === null || target.expires_at > own.expires_at);
  const paysMore =
    own.approve_above !== null &&
    (target.approve_above === null || toMsat(target.approve_above) > toMsat(own.approve_above));
  const isCostly = own.budget !== null && canSpend([], target.effective_permissions);
  const seesMore = own.own && !target.own;
  return isWithin && !outlives && !paysMore && !seesMore && (isSelf || !isCostly);
}
