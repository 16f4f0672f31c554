import { createHash } from 'node:crypto';
import { hex } from '@scure/base';
import { ed25519 } from '../../lib/secrets/ed25519.ts';
import { type Budget, type BudgetJson, encodeBudget } from '../../model/clients/budget.ts';
import {
  type Client,
  type ClientInfoJson,
  type ClientRecord,
  encodeClient,
  type Grant,
  isActive,
  MAX_ACTIVE_CLIENTS,
} from '../../model/clients/client.ts';
import { PERMISSIONS, type Permission } from '../../model/clients/permissions.ts';
import { encodeClientCredentials } from '../../model/credentials.ts';
import { ApiError, endedCredentials, refused, rejected } from '../../model/errors.ts';
import { periodStart } from '../budget/budget.ts';
import type { EffectNames } from '../session/effect-names.ts';
import { type Grants, type Keeper, lacking, nodeGroup, type OnNode } from '../session/session.ts';
import { endEndpointsOf } from './client-endpoints.ts';
import { type ClientUpdate, merged, narrowedFamily, revoked, withToken } from './client-family.ts';
import {
  descendantsOf,
  type Granter,
  permissionsOf,
  requireBudgetAuthority,
  requireGrantable,
  requireNoGift,
  requireReach,
} from './client-policy.ts';
import { endTokens, issueToken, renewedTokens } from './client-tokens.ts';

/** A client to create. */
export interface NewClient extends Grant {
  readonly expiresAtMs: number | null;
  readonly label: string | null;
  readonly budget: Budget | null;
  /** Null or absent for that of the client that creates it. */
  readonly approveAboveMsat?: bigint | null;
  /** Null or absent for those of the client that creates it. */
  readonly origins?: readonly string[] | null;
  /** Absent for what the client is that creates it. */
  readonly own?: boolean;
}

/** Returns the identity and grant of the caller (docs/api.md, Client info). */
export async function clientInfo(
  session: Keeper & Grants,
): Promise<ClientInfoJson & { kind: 'client_credentials' | 'root_seed' }> {
  const client = session.client();
  if (client) {
    // Whatever its token allows, the owner can do only what the node serves.
    const shown = session.configured
      ? { ...client, permissions: session.configured.reread().served }
      : client;
    return { ...(await withBudget(session, shown)), kind: 'client_credentials' };
  }
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
    approve_above: null,
    origins: null,
    own: false,
  };
}

/** Returns whether there is a client of that public key that is neither revoked nor expired. */
export async function isActiveClient(session: Keeper, clientPk: string): Promise<boolean> {
  const client = await session.store.clients.find(clientPk);
  return client !== null && isActive(client, session.node.clock.now());
}

/** Throws `notFound` (error 107) unless it is an active client of the wallet. */
export async function requireActiveClient(session: Keeper, clientPk: string): Promise<void> {
  requireActive(session, ownClient(session, await session.store.clients.find(clientPk)));
}

/** Returns the active clients of the wallet, by public key. */
export async function listClients(session: Keeper): Promise<Record<string, ClientInfoJson>> {
  nodeGroup(session, 'tokens');
  const all = await session.store.clients.list(session.userPk);
  const active = seenBy(session, all).filter((client) =>
    isActive(client, session.node.clock.now()),
  );
  const entries = await Promise.all(
    active.map(async (client) => [client.clientPk, await withBudget(session, client)] as const),
  );
  return Object.fromEntries(entries);
}

/**
 * Creates a client that can do no more than its creator and does not outlive it (docs/decisions.md 61). Clients are
 * created one at a time, so that the limit of active clients holds. The client's key follows from the request's
 * Idempotency-Key, so that a repeat after a crash finds the client and returns its credentials. Throws errors 7, 106
 * and 108.
 */
export function createClient(
  session: Keeper,
  request: NewClient,
  names: EffectNames,
): Promise<{ client: Client; credentials: string }> {
  return session.locks.run('clients', async () => {
    const records = await session.store.clients.list(session.userPk);
    const requireGranted = (current: readonly ClientRecord[]): Granter => {
      const granter = granterIn(current, session, 'create_client');
      requireGrantable(granter, withOwnLimits(request, granter));
      if (request.budget) requireBudgetAuthority(granter);
      return granter;
    };
    const granter = requireGranted(records);
    requireFuture(session, request.expiresAtMs);
    const secret = names.bytes('client');
    const clientPk = hex.encode(ed25519.publicKeyOf(secret));
    const credentials = encodeClientCredentials({ client: clientPk, secret: hex.encode(secret) });
    const made = records.find((record) => record.clientPk === clientPk);
    if (made) return { client: requireActive(session, made), credentials };
    requireRoom(session, records);
    const token = await issueToken(session, request, request.expiresAtMs, names);
    const { approveAboveMsat, origins, own } = withOwnLimits(request, granter);
    const record: ClientRecord = {
      clientPk,
      walletId: session.userPk,
      nodeKind: session.node.descriptor.kind,
      parentPk: granter.clientPk,
      createdAtMs: session.node.clock.now(),
      expiresAtMs: request.expiresAtMs,
      label: request.label,
      revokedAtMs: null,
      scopes: [...new Set(request.scopes)],
      permissions: [...new Set(request.permissions)],
      secretHash: createHash('sha256').update(secret).digest('hex'),
      budgetState: request.budget ? 'set' : 'none',
      token,
      endedTokenIds: [],
      approveAboveMsat,
      origins,
      own,
    };
    await session.store.clients.change(session.userPk, (current) => {
      requireGranted(current);
      return {
        records: [record],
        budgets: request.budget ? [{ clientPk, budget: request.budget, periodStart }] : [],
      };
    });
    await session.guard.keepUp();
    return { client: record, credentials };
  });
}

/**
 * Changes a client to a grant within the caller's own (docs/decisions.md 63). What the new grant does not hold ends
 * first, together with a budget being set; what is new is added last, together with a budget being lifted
 * (docs/decisions.md 64). Descendants are narrowed with the client. Throws errors 7, 107 and 108.
 */
export function updateClient(
  session: Keeper,
  clientPk: string,
  update: ClientUpdate,
): Promise<ClientInfoJson> {
  return session.locks.run('clients', async () => {
    const { store, userPk, node } = session;
    const nowMs = node.clock.now();
    if (update.expiresAtMs !== undefined) requireFuture(session, update.expiresAtMs);
    const requireGranted = (records: readonly ClientRecord[]) => {
      const granter = granterIn(records, session, 'update_client');
      const before = requireActive(
        session,
        seenBy(session, records).find((one) => one.clientPk === clientPk),
      );
      const after = merged(before, update);
      requireReach(granter, before);
      const { grant, expiresAtMs, approveAboveMsat, origins, own } = update;
      const limits = [grant, expiresAtMs, approveAboveMsat, origins, own];
      if (limits.some((changed) => changed !== undefined)) {
        requireGrantable(granter, after);
      }
      if (update.budget !== undefined) requireBudgetAuthority(granter);
      requireNoGift(granter, before, after, {
        records,
        changesBudget: update.budget !== undefined,
      });
      return { before, after };
    };
    const earlier = await store.clients.list(userPk);
    const { after } = requireGranted(earlier);

    const { records: narrow } = await store.clients.change(userPk, (records) => {
      const current = requireGranted(records);
      return {
        records: narrowedFamily(records, current.after, current.before, nowMs),
        budgets: update.budget ? [{ clientPk, budget: update.budget, periodStart }] : [],
      };
    });
    session.liveClients.changed(narrow);
    await endEndpointsOf(session, narrow.filter(endsEndpoints));
    const widened = narrow.map((record) => (record.clientPk === clientPk ? after : record));
    const tokens = await renewedTokens(session, earlier, widened);
    const { records: final } = await store.clients.change(userPk, (records) => ({
      records: widened.map((record) => withToken(record, tokens, records)),
      budgets: update.budget === null ? [{ clientPk, budget: null, periodStart }] : [],
    }));
    session.liveClients.changed(final);
    await session.guard.keepUp();
    await session.approvals.sweep();
    await endTokens(session);
    return withBudget(session, final.find((one) => one.clientPk === clientPk) ?? after);
  });
}

/**
 * Revokes a client and its descendants for ever, and ends their requests in progress (docs/decisions.md 65). The
 * revocation holds as soon as it is stored, because tokens never left the sidecar; they are ended at the node when it
 * can be reached. The revocation is named in the key's row first, so that a repeat after a crash returns the revoked
 * client. Throws errors 107 and 108.
 */
export function revokeClient(
  session: Keeper,
  clientPk: string,
  names: EffectNames,
): Promise<ClientInfoJson> {
  return session.locks.run('clients', async () => {
    const nowMs = session.node.clock.now();
    const before = ownClient(session, await session.store.clients.find(clientPk));
    if (names.earlier('revocation') !== null && before && before.revokedAtMs !== null) {
      await endEndpointsOf(session, [before]);
      await endTokens(session);
      return withBudget(session, before);
    }
    const requireFamily = (all: readonly ClientRecord[]): ClientRecord[] => {
      const granter = granterIn(all, session, 'revoke_client');
      const found = seenBy(session, all).find((one) => one.clientPk === clientPk);
      const target = requireActive(session, found);
      requireReach(granter, target);
      return [target, ...descendantsOf(all, clientPk)];
    };
    const family = requireFamily(await session.store.clients.list(session.userPk));
    await names.kept('revocation', async () => 'yes');
    // Before and after: a kill in between leaves none, and what it makes in between goes too.
    await endEndpointsOf(session, family);
    const { records } = await session.store.clients.change(session.userPk, (all) => ({
      records: requireFamily(all).map((one) => revoked(one, nowMs)),
      budgets: [],
    }));
    session.liveClients.changed(records);
    await endEndpointsOf(session, records);
    await session.guard.keepUp();
    await session.approvals.sweep();
    await endTokens(session);
    const [target] = records;
    if (!target) throw clientNotFound();
    return withBudget(session, target);
  });
}

/**
 * What the caller may grant, by the current records: while its request waited, the caller may have been revoked or
 * narrowed. Throws `unauthenticated` (error 104) and `forbidden` (error 108).
 */
function granterIn(
  records: readonly ClientRecord[],
  session: Keeper,
  permission: Permission,
): Granter {
  if (session.isOwner) {
    const grant = session.configured?.reread();
    return {
      clientPk: null,
      permissions: grant?.permissions ?? PERMISSIONS,
      expiresAtMs: null,
      budgetState: 'none',
      approveAboveMsat: null,
      origins: null,
      own: false,
      lacks: grant?.lacks,
    };
  }
  const own = records.find((record) => record.clientPk === session.caller.id);
  if (!own || !isActive(own, session.node.clock.now())) throw endedCredentials();
  const permissions = permissionsOf(own);
  if (!permissions.includes(permission)) throw lacking(session, permission);
  return { ...own, permissions };
}

/** What the request says nothing of is limited for a new client as it is for its creator. */
function withOwnLimits(request: NewClient, granter: Granter) {
  const approveAboveMsat = request.approveAboveMsat ?? granter.approveAboveMsat;
  const origins = request.origins ? [...new Set(request.origins)] : granter.origins;
  return { ...request, approveAboveMsat, origins, own: request.own ?? granter.own };
}

/** Whether a client may have no webhook endpoints of the wallet any more. */
function endsEndpoints(client: ClientRecord): boolean {
  return client.own || !permissionsOf(client).includes('manage_webhooks');
}

/** The clients that the caller is told of: what another one has spent is none of the caller's who sees only its own. */
function seenBy({ caller }: Keeper, all: readonly ClientRecord[]): readonly ClientRecord[] {
  const self = all.find(({ clientPk }) => clientPk === caller.id);
  return self?.own ? [self, ...descendantsOf(all, self.clientPk)] : all;
}

async function withBudget(session: Keeper, client: Client): Promise<ClientInfoJson> {
  const nowMs = session.node.clock.now();
  const { budget, spentMsat } = await session.store.budgets.get(
    session.userPk,
    client.clientPk,
    nowMs,
    periodStart,
  );
  const json: BudgetJson | null = budget && encodeBudget(budget, spentMsat, nowMs);
  return encodeClient(client, json);
}

function ownClient({ userPk }: Keeper, record: ClientRecord | null): ClientRecord | undefined {
  return record?.walletId === userPk ? record : undefined;
}

function requireActive(session: OnNode, record: ClientRecord | undefined): ClientRecord {
  if (record && isActive(record, session.node.clock.now())) return record;
  throw clientNotFound();
}

function requireRoom(session: OnNode, records: readonly ClientRecord[]): void {
  const nowMs = session.node.clock.now();
  if (records.filter((record) => isActive(record, nowMs)).length < MAX_ACTIVE_CLIENTS) return;
  throw refused(
    `A wallet has at most ${MAX_ACTIVE_CLIENTS} active clients: revoke one that is no longer used.`,
  );
}

function requireFuture(session: OnNode, expiresAtMs: number | null): void {
  if (expiresAtMs !== null && expiresAtMs <= session.node.clock.now()) {
    throw rejected('expires_at', 'must be in the future, in milliseconds since the UNIX epoch');
  }
}

function clientNotFound(): ApiError {
  return new ApiError('notFound', 'Client not found');
}
