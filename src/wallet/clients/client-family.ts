import type { Budget } from '../../model/clients/budget.ts';
import type { ClientRecord, Grant } from '../../model/clients/client.ts';
import {
  type Bounds,
  boundsOf,
  descendantsOf,
  narrowed,
  permissionsOf,
  sameReach,
} from './client-policy.ts';
import type { MadeToken } from './client-tokens.ts';

/** A change of a client. A member that is absent stays as it is; `grant` replaces the whole grant. */
export interface ClientUpdate {
  readonly label?: string | null | undefined;
  readonly expiresAtMs?: number | null | undefined;
  readonly grant?: Grant | undefined;
  readonly budget?: Budget | null | undefined;
  readonly approveAboveMsat?: bigint | null | undefined;
  readonly origins?: readonly string[] | null | undefined;
  readonly own?: boolean | undefined;
}

/**
 * Narrows a client and all its descendants to what the client will hold (docs/decisions.md 62). A descendant that is
 * left without permissions is revoked. Returns the new records, the client first.
 */
export function narrowedFamily(
  records: readonly ClientRecord[],
  next: ClientRecord,
  current: ClientRecord,
  nowMs: number,
): ClientRecord[] {
  const own = withinBounds(current, boundsOf({ ...next, budgetState: 'none' }));
  // The budget stays until the new grant is in force.
  const budgetState = next.budgetState === 'lifted' ? current.budgetState : next.budgetState;
  const target = { ...own, label: next.label, budgetState };
  const family = new Map<string, ClientRecord>([[target.clientPk, target]]);
  for (const child of descendantsOf(records, current.clientPk)) {
    const parent = family.get(child.parentPk ?? '') ?? target;
    const within = withinBounds(child, boundsOf(parent.clientPk === next.clientPk ? next : parent));
    family.set(
      child.clientPk,
      permissionsOf(within).length === 0 ? revoked(within, nowMs) : within,
    );
  }
  return [...family.values()];
}

/**
 * The client, narrowed to the bounds. When that narrows it, its present token must be ended; if the node cannot make
 * another one now, a later update ends it.
 */
function withinBounds(client: ClientRecord, bounds: Bounds): ClientRecord {
  const within = narrowed(client, bounds);
  return sameReach(client, within) ? within : { ...within, endedTokenIds: endedWith(client) };
}

/** Returns the record with its new token, if one was made. */
export function withToken(
  record: ClientRecord,
  tokens: ReadonlyMap<string, MadeToken>,
  current: readonly ClientRecord[],
): ClientRecord {
  const token = tokens.get(record.clientPk);
  if (!token) return record;
  const stored = current.find((one) => one.clientPk === record.clientPk) ?? record;
  return { ...record, token, endedTokenIds: endedWith(stored) };
}

/** Returns the client, revoked, with its token added to those that must be ended at the node. */
export function revoked(client: ClientRecord, nowMs: number): ClientRecord {
  return {
    ...client,
    revokedAtMs: client.revokedAtMs ?? nowMs,
    token: null,
    endedTokenIds: endedWith(client),
  };
}

/** The client and its descendants, revoked; none where its token was replaced, or it is revoked already. */
export function endedAtNode(
  records: readonly ClientRecord[],
  { clientPk, tokenId }: { readonly clientPk: string; readonly tokenId: string },
  nowMs: number,
): ClientRecord[] {
  const client = records.find((one) => one.clientPk === clientPk);
  if (client === undefined || client.revokedAtMs !== null || client.token?.id !== tokenId)
    return [];
  return [client, ...descendantsOf(records, clientPk)].map((one) => revoked(one, nowMs));
}

/** The ids of tokens to end at the node, the client's present one included. */
function endedWith({ token, endedTokenIds }: ClientRecord): string[] {
  return [...new Set([...endedTokenIds, ...(token ? [token.id] : [])])];
}

/** Returns the record after the update. */
export function merged(before: ClientRecord, update: ClientUpdate): ClientRecord {
  const { label, expiresAtMs, grant, budget, approveAboveMsat, origins, own } = update;
  return {
    ...before,
    ...(label === undefined ? {} : { label }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
    ...(approveAboveMsat === undefined ? {} : { approveAboveMsat }),
    ...(origins === undefined ? {} : { origins: origins && [...new Set(origins)] }),
    ...(own === undefined ? {} : { own }),
    ...(grant
      ? { scopes: [...new Set(grant.scopes)], permissions: [...new Set(grant.permissions)] }
      : {}),
    ...(budget === undefined ? {} : { budgetState: budgetStateAfter(before, budget) }),
  };
}

function budgetStateAfter(
  { budgetState }: ClientRecord,
  budget: Budget | null,
): ClientRecord['budgetState'] {
  if (budget !== null) return 'set';
  return budgetState === 'none' ? 'none' : 'lifted';
}
