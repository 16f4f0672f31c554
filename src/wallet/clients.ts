import type { Budget, BudgetJson } from '../model/budget.ts';
import { encodeBudget } from '../model/budget.ts';
import {
  type Client,
  type ClientInfoJson,
  encodeClient,
  type Grant,
  MAX_ACTIVE_CLIENTS,
} from '../model/client.ts';
import { encodeCredentials } from '../model/credentials.ts';
import { ApiError, refused, rejected } from '../model/errors.ts';
import { effectivePermissions, PERMISSIONS, type Permission } from '../model/permissions.ts';
import { nodeGroup, requirePermission, type Session } from './session.ts';

/** Permissions that a budget bounds. */
const SPENDING: ReadonlySet<Permission> = new Set(['pay_invoice', 'pay_offer', 'pay_onchain']);

/** A client to create. */
export interface NewClient extends Grant {
  readonly expiresAtMs: number | null;
  readonly label: string | null;
  readonly budget: Budget | null;
}

/** A change of a client; only the members given change, `grant` replaces the whole grant. */
export interface ClientUpdate {
  readonly label?: string | null;
  readonly expiresAtMs?: number | null;
  readonly grant?: Grant;
  readonly budget?: Budget | null;
}

/** The caller's own identity and grant (contract, client_info). */
export async function clientInfo(
  session: Session,
): Promise<ClientInfoJson & { kind: 'client_credentials' | 'root_seed' }> {
  const client = session.client();
  if (client) return { ...(await withBudget(session, client)), kind: 'client_credentials' };
  return {
    kind: 'root_seed',
    client_pk: null,
    created_at: null,
    expires_at: null,
    label: null,
    scopes: ['full'],
    permissions: [],
    effective_permissions: [...PERMISSIONS],
    budget: null,
  };
}

/** Active clients by public key. */
export async function listClients(session: Session): Promise<Record<string, ClientInfoJson>> {
  const clients = await nodeGroup(session, 'clients').listClients();
  const entries = await Promise.all(
    clients.map(async (client) => [client.clientPk, await withBudget(session, client)] as const),
  );
  return Object.fromEntries(entries);
}

/**
 * Creates a client that can do no more than its creator and does not outlive it (decisions section 7). One at a
 * time, so that the limit of active clients holds.
 */
export function createClient(
  session: Session,
  request: NewClient,
): Promise<{ client: Client; credentials: string }> {
  return session.locks.run('clients', async () => {
    requireWithin(session, request, request.expiresAtMs);
    await requireNoSpendingBeyondBudget(session, request);
    requireFuture(session, request.expiresAtMs);
    const clients = nodeGroup(session, 'clients');
    if ((await clients.listClients()).length >= MAX_ACTIVE_CLIENTS) {
      throw refused(
        `A wallet has at most ${MAX_ACTIVE_CLIENTS} active clients: revoke one that is no longer used.`,
      );
    }
    const { client, credentials } = await clients.createClient({
      scopes: request.scopes,
      permissions: request.permissions,
      expiresAtMs: request.expiresAtMs,
      label: request.label,
    });
    if (request.budget) {
      await session.store.budgets.set(session.userPk, client.clientPk, request.budget);
    }
    return { client, credentials: encodeCredentials(credentials) };
  });
}

/** Changes a client; what it may do afterwards must be within what the caller may do (decisions section 7). */
export function updateClient(
  session: Session,
  clientPk: string,
  update: ClientUpdate,
): Promise<ClientInfoJson> {
  return session.locks.run('clients', async () => {
    const clients = nodeGroup(session, 'clients');
    const before = (await clients.listClients()).find((client) => client.clientPk === clientPk);
    if (!before) throw new ApiError('notFound', 'Client not found');
    const expiresAtMs = update.expiresAtMs === undefined ? before.expiresAtMs : update.expiresAtMs;
    requireWithin(session, update.grant ?? before, expiresAtMs);
    await requireNoSpendingBeyondBudget(session, update.grant ?? before);
    if (update.expiresAtMs !== undefined) requireFuture(session, update.expiresAtMs);
    if (update.budget !== undefined) {
      // Before the grant: a client must never hold the new grant with the old budget, or none.
      await session.store.budgets.set(session.userPk, clientPk, update.budget);
    }
    const { budget: _, ...change } = update;
    return withBudget(session, await clients.updateClient(clientPk, change));
  });
}

/** Revokes a client for ever; its requests in progress end (contract, revoke_client). */
export async function revokeClient(session: Session, clientPk: string): Promise<ClientInfoJson> {
  const revoked = await nodeGroup(session, 'clients').revokeClient(clientPk);
  await session.store.credentials.forget(session.userPk, clientPk);
  return withBudget(session, revoked);
}

async function withBudget(session: Session, client: Client): Promise<ClientInfoJson> {
  const nowMs = session.node.clock.now();
  const state = await session.store.budgets.get(session.userPk, client.clientPk, nowMs);
  const budget: BudgetJson | null = state && encodeBudget(state.budget, state.spentMsat, nowMs);
  return encodeClient(client, budget);
}

function requireWithin(session: Session, grant: Grant, expiresAtMs: number | null): void {
  for (const permission of effectivePermissions(grant.scopes, grant.permissions)) {
    requirePermission(session, permission);
  }
  const own = session.client()?.expiresAtMs ?? null;
  if (own !== null && (expiresAtMs === null || expiresAtMs > own)) {
    throw new ApiError(
      'forbidden',
      'A client cannot outlive the client that grants it: give an expires_at no later than your own.',
      { data: { expires_at: own } },
    );
  }
}

/** Clones of a client with a budget would multiply what it may spend, so it can grant nothing that spends. */
async function requireNoSpendingBeyondBudget(session: Session, grant: Grant): Promise<void> {
  const own = session.client();
  if (!own) return;
  const granted = effectivePermissions(grant.scopes, grant.permissions);
  const spending = granted.find((permission) => SPENDING.has(permission));
  if (spending === undefined) return;
  const nowMs = session.node.clock.now();
  if ((await session.store.budgets.get(session.userPk, own.clientPk, nowMs)) === null) return;
  throw new ApiError(
    'forbidden',
    'A client with a budget cannot grant or change permissions that spend: ask the wallet owner.',
    { data: { permission: spending } },
  );
}

function requireFuture(session: Session, expiresAtMs: number | null): void {
  if (expiresAtMs !== null && expiresAtMs <= session.node.clock.now()) {
    throw rejected('expires_at', 'must be in the future, in milliseconds since the UNIX epoch');
  }
}
