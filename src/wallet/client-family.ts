import type { Budget } from '../model/budget.ts';
import type { ClientRecord, Grant } from '../model/client.ts';
import {
  type Bounds,
  boundsOf,
  descendantsOf,
  narrowed,
  permissionsOf,
  sameReach,
} from './client-policy.ts';
import type { MadeToken } from './client-tokens.ts';

/** A change of a client; only the members given change, `grant` replaces the whole grant. */
export interface ClientUpdate {
  readonly label?: string | null;
  readonly expiresAtMs?: number | null;
  readonly grant?: Grant;
  readonly budget?: Budget | null;
}

/** The client and its descendants within what the client will hold; one that is left with nothing is revoked. */
export function narrowedFamily(
  records: readonly ClientRecord[],
  next: ClientRecord,
  current: ClientRecord,
  nowMs: number,
): ClientRecord[] {
  const own = withinBounds(current, boundsOf({ ...next, budgetState: 'none' }));
  // A budget is lifted only when the new grant is in force.
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
 * The client narrowed to the bounds. A token that reaches further has to be ended, by a later update too when the node
 * makes no other now.
 */
function withinBounds(client: ClientRecord, bounds: Bounds): ClientRecord {
  const within = narrowed(client, bounds);
  return sameReach(client, within) ? within : { ...within, endedTokenIds: endedWith(client) };
}

/** The record with the token that was made for it. */
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

/** The client, ended, with its token among those to end at the node. */
export function revoked(client: ClientRecord, nowMs: number): ClientRecord {
  return {
    ...client,
    revokedAtMs: client.revokedAtMs ?? nowMs,
    token: null,
    endedTokenIds: endedWith(client),
  };
}

/** The tokens to end at the node, the client's present one included. */
function endedWith({ token, endedTokenIds }: ClientRecord): string[] {
  return [...new Set([...endedTokenIds, ...(token ? [token.id] : [])])];
}

/** The record as the update leaves it. */
export function merged(before: ClientRecord, update: ClientUpdate): ClientRecord {
  const { label, expiresAtMs, grant, budget } = update;
  return {
    ...before,
    ...(label === undefined ? {} : { label }),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
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
