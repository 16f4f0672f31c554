import { formatNullableAmountMsat } from '../../model/amount.ts';
import type { BudgetState, ClientRecord, Grant } from '../../model/clients/client.ts';
import {
  effectivePermissions,
  type Permission,
  SCOPES,
  type Scope,
  SPENDING,
} from '../../model/clients/permissions.ts';
import { ApiError } from '../../model/errors.ts';

/** The permissions and limits of a caller that creates, changes or revokes a client. */
export interface Granter extends Limits {
  /** Null for the wallet's owner. */
  readonly clientPk: string | null;
  readonly permissions: readonly Permission[];
  readonly budgetState: BudgetState;
  /** What is said to the owner of a configured token that lacks a permission; see `TokenGrant.lacks`. */
  readonly lacks?: ((permission: Permission) => string) | undefined;
}

/** The limits to which a client is narrowed. */
export interface Bounds extends Limits {
  readonly permissions: ReadonlySet<Permission>;
}

/** How long a client may do something, up to which cost, what it may fetch, and whether it sees only its own. */
type Limits = Pick<ClientRecord, 'expiresAtMs' | 'approveAboveMsat' | 'origins' | 'own'>;
type Terms = Grant & Limits;

/** Returns whether the permission can cost money. */
export function spends(permission: Permission): boolean {
  return SPENDING.includes(permission);
}

/**
 * Throws `forbidden` (error 108) for a grant with more permissions or a longer life than the granter's own
 * (docs/decisions.md 61), with a higher cost before a payment waits for approval (docs/decisions.md 187), with other
 * origins (docs/decisions.md 189), or that sees more (docs/decisions.md 195). It also throws for a grant that spends
 * when the granter has or had a budget, because the new client would multiply that budget (docs/decisions.md 68).
 */
export function requireGrantable(granter: Granter, grant: Terms): void {
  const { expiresAtMs } = grant;
  const wanted = effectivePermissions(grant.scopes, grant.permissions);
  const beyond = wanted.find((permission) => !granter.permissions.includes(permission));
  if (beyond !== undefined) {
    throw forbidden(
      granter.lacks?.(beyond) ??
        `These credentials lack the permission ${beyond}, so they cannot grant it: ask the wallet's owner.`,
      { permission: beyond },
    );
  }
  if (outlives(expiresAtMs, granter.expiresAtMs)) {
    throw forbidden(
      'A client cannot outlive the client that grants it: give an expires_at no later than your own.',
      { expires_at: granter.expiresAtMs },
    );
  }
  if (exceeds(grant.approveAboveMsat, granter.approveAboveMsat)) {
    throw forbidden(
      'Payments of these credentials wait for approval above a cost, and those of a client cannot wait above a higher one: ask the wallet owner.',
      { approve_above: formatNullableAmountMsat(granter.approveAboveMsat) },
    );
  }
  if (strays(grant.origins, granter.origins)) {
    throw forbidden(
      'These credentials may fetch only from their own origins, and so may a client of theirs: ask the wallet owner.',
      { origins: granter.origins },
    );
  }
  if (granter.own && !grant.own) {
    throw forbidden(
      'These credentials see only what they made, and so must a client of theirs: ask the wallet owner.',
      { own: true },
    );
  }
  const spending = wanted.find(spends);
  if (spending !== undefined && granter.budgetState !== 'none') {
    throw forbidden(
      'A client that has or had a budget cannot grant permissions that spend: ask the wallet owner.',
      { permission: spending },
    );
  }
}

/** Throws error 108 when the target holds more than the caller that changes it (docs/decisions.md 63). */
export function requireReach(granter: Granter, target: ClientRecord): void {
  if (granter.clientPk === null) return;
  const beyond = permissionsOf(target).find(
    (permission) => !granter.permissions.includes(permission),
  );
  const spending = permissionsOf(target).find(spends);
  const isSelf = target.clientPk === granter.clientPk;
  if (granter.budgetState === 'set' && !isSelf && spending !== undefined) {
    throw forbidden(
      'These credentials have a budget, so they cannot change or revoke a client that spends: ask the wallet owner.',
      { permission: spending },
    );
  }
  if (beyond === undefined && !reachesBeyond(target, granter)) return;
  throw forbidden(
    'This client holds more than these credentials do, so they cannot change or revoke it: ask the wallet owner.',
    beyond === undefined ? { expires_at: granter.expiresAtMs } : { permission: beyond },
  );
}

/**
 * Throws `forbidden` (error 108) when a client would widen one that is not its descendant: that one would keep the
 * permissions when the granter is revoked (docs/decisions.md 63).
 */
export function requireNoGift(
  granter: Granter,
  before: ClientRecord,
  after: ClientRecord,
  {
    records,
    changesBudget,
  }: {
    readonly records: readonly ClientRecord[];
    readonly changesBudget: boolean;
  },
): void {
  const { clientPk } = granter;
  if (clientPk === null) return;
  if (descendantsOf(records, clientPk).some((one) => one.clientPk === before.clientPk)) return;
  const held = permissionsOf(before);
  const wider = permissionsOf(after).find((permission) => !held.includes(permission));
  const freer = changesBudget && before.budgetState === 'set';
  if (wider === undefined && !reachesBeyond(after, before) && !freer) return;
  throw forbidden(
    'These credentials can widen only clients that they created: ask the wallet owner.',
    { permission: wider ?? 'update_client' },
  );
}

/** Throws `forbidden` (error 108) when the granter has or had a budget itself, and so may not set or remove budgets. */
export function requireBudgetAuthority(granter: Granter): void {
  if (granter.budgetState === 'none') return;
  throw forbidden(
    'A client that has or had a budget cannot set or remove budgets: ask the wallet owner.',
    { permission: 'update_client' },
  );
}

/** Returns the clients that a client created, directly or through others, parents before children. */
export function descendantsOf(
  records: readonly ClientRecord[],
  clientPk: string,
): readonly ClientRecord[] {
  const found: ClientRecord[] = [];
  let parents = new Set([clientPk]);
  while (parents.size > 0) {
    const children = records.filter(
      ({ parentPk, clientPk: own }) =>
        parentPk !== null && parents.has(parentPk) && !found.some((one) => one.clientPk === own),
    );
    found.push(...children);
    parents = new Set(children.map((child) => child.clientPk));
  }
  return found;
}

/** Returns all permissions of a grant: those of its scopes and its single ones. */
export function permissionsOf(grant: Grant): Permission[] {
  return effectivePermissions(grant.scopes, grant.permissions);
}

/** Returns the client without anything beyond the bounds; a scope partly within them becomes permissions. */
export function narrowed<Narrowed extends Terms>(client: Narrowed, bounds: Bounds): Narrowed {
  const isWithin = (permission: Permission) => bounds.permissions.has(permission);
  const scopes = client.scopes.filter((scope: Scope) => SCOPES[scope].every(isWithin));
  const byScopes = new Set(effectivePermissions(scopes, []));
  const permissions = permissionsOf(client).filter(
    (permission) =>
      isWithin(permission) &&
      (!byScopes.has(permission) || client.permissions.includes(permission)),
  );
  const expiresAtMs = outlives(client.expiresAtMs, bounds.expiresAtMs)
    ? bounds.expiresAtMs
    : client.expiresAtMs;
  const approveAboveMsat = exceeds(client.approveAboveMsat, bounds.approveAboveMsat)
    ? bounds.approveAboveMsat
    : client.approveAboveMsat;
  const origins = strays(client.origins, bounds.origins)
    ? (bounds.origins?.filter((origin) => client.origins?.includes(origin) ?? true) ?? null)
    : client.origins;
  const own = client.own || bounds.own;
  return { ...client, scopes, permissions, expiresAtMs, approveAboveMsat, origins, own };
}

/**
 * Returns the bounds that a client sets for its descendants: its own permissions and limits, without permissions that
 * spend if it has or had a budget.
 */
export function boundsOf(client: Terms & Pick<ClientRecord, 'budgetState'>): Bounds {
  const permissions = permissionsOf(client).filter(
    (permission) => client.budgetState === 'none' || !spends(permission),
  );
  const { expiresAtMs, approveAboveMsat, origins, own } = client;
  return { permissions: new Set(permissions), expiresAtMs, approveAboveMsat, origins, own };
}

/** Returns whether two grants have the same permissions and expiry, so that one token serves both. */
export function sameReach(
  a: Grant & { readonly expiresAtMs: number | null },
  b: Grant & { readonly expiresAtMs: number | null },
): boolean {
  return (
    a.expiresAtMs === b.expiresAtMs && permissionsOf(a).join(' ') === permissionsOf(b).join(' ')
  );
}

function outlives(expiresAtMs: number | null, ownMs: number | null): boolean {
  return ownMs !== null && (expiresAtMs === null || expiresAtMs > ownMs);
}

/** Whether a payment may cost more before it waits for approval than by the own limit. */
function exceeds(aboveMsat: bigint | null, ownMsat: bigint | null): boolean {
  return ownMsat !== null && (aboveMsat === null || aboveMsat > ownMsat);
}

/** Whether the origins hold one that the own ones do not. */
function strays(origins: readonly string[] | null, own: readonly string[] | null): boolean {
  return own !== null && !(origins?.every((origin) => own.includes(origin)) ?? false);
}

/** Whether the one lives longer, has a higher cost before a payment waits or other origins, or sees more. */
function reachesBeyond(one: Limits, other: Limits): boolean {
  return (
    outlives(one.expiresAtMs, other.expiresAtMs) ||
    exceeds(one.approveAboveMsat, other.approveAboveMsat) ||
    strays(one.origins, other.origins) ||
    (other.own && !one.own)
  );
}

function forbidden(message: string, data: unknown): ApiError {
  return new ApiError('forbidden', message, { data });
}
