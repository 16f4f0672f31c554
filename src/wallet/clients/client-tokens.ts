import type { ClientRecord, Grant } from '../../model/clients/client.ts';
import { endedCredentials, isApiError } from '../../model/errors.ts';
import type { EffectNames } from '../session/effect-names.ts';
import { type Keeper, nodeGroup, type OnNode } from '../session/session.ts';
import { permissionsOf, sameReach } from './client-policy.ts';

/** A token of the node, as a client's record holds it. */
export type MadeToken = NonNullable<ClientRecord['token']>;

/**
 * Makes a token at the node that allows no more than the grant (docs/decisions.md 57). With `names`, the token's id is
 * stored in the key's row first, so that a repeat after a crash makes the token under the same id.
 */
export async function issueToken(
  session: OnNode,
  grant: Grant,
  expiresAtMs: number | null,
  names: EffectNames | null,
): Promise<MadeToken> {
  const tokens = nodeGroup(session, 'tokens');
  const permissions = permissionsOf(grant);
  const id = names ? await names.kept('token', async () => tokens.newId()) : tokens.newId();
  const token = await tokens.issue({ id, permissions, expiresAtMs });
  return { id, token, exposed: false };
}

/** Whether the client's token must be ended, although it has not been replaced yet. */
function isTokenOver({ token, endedTokenIds }: ClientRecord): boolean {
  return token !== null && endedTokenIds.includes(token.id);
}

/** Makes tokens for clients in use whose token does not fit their grant. Returns them by public key. */
export async function renewedTokens(
  session: OnNode,
  earlier: readonly ClientRecord[],
  next: readonly ClientRecord[],
): Promise<Map<string, MadeToken>> {
  const held = new Map(earlier.map((client) => [client.clientPk, client]));
  const tokens = new Map<string, MadeToken>();
  for (const client of next) {
    const before = held.get(client.clientPk);
    const isFitting = before && sameReach(before, client) && !isTokenOver(before);
    if (client.revokedAtMs !== null || isFitting) continue;
    tokens.set(client.clientPk, await issueToken(session, client, client.expiresAtMs, null));
  }
  return tokens;
}

/**
 * Ends at the node the tokens that the records mark as ended. Tokens that cannot be ended now are left for the next
 * call, which is safe because no application ever held them.
 */
export async function endTokens(session: Keeper): Promise<void> {
  const { store, userPk } = session;
  const tokens = nodeGroup(session, 'tokens');
  const ended = new Set<string>();
  for (const { token, endedTokenIds } of await store.clients.list(userPk)) {
    // A token that is still in use is ended after it is replaced.
    for (const id of endedTokenIds.filter((ended) => ended !== token?.id)) {
      try {
        await tokens.revoke(id);
        ended.add(id);
      } catch (error) {
        // This also happens when a client revokes itself, because the node is asked with the token that ended.
        if (!isApiError(error)) throw error;
        session.log.warn('A token of the node could not be ended yet; it is tried again later.', {
          walletId: userPk,
          error,
        });
      }
    }
  }
  if (ended.size === 0) return;
  await store.clients.change(userPk, (records) => ({
    records: records
      .filter(({ endedTokenIds }) => endedTokenIds.some((id) => ended.has(id)))
      .map((record) => ({
        ...record,
        endedTokenIds: record.endedTokenIds.filter((id) => !ended.has(id)),
      })),
    budgets: [],
  }));
}

/**
 * Replaces a token that the client's application holds too, as in credentials of version 0.1 (docs/decisions.md 57).
 * The old token is ended at the node. Throws when the owner's token cannot make another.
 */
export function replaceExposedToken(session: Keeper, clientPk: string): Promise<ClientRecord> {
  return session.locks.run('clients', async () => {
    const { clients } = session.store;
    const before = await clients.find(clientPk);
    return before?.token?.exposed ? replaceToken(session, before) : requireToken(before);
  });
}

/**
 * Replaces the token of the calling client by one of the same grant, as this version makes it, unless the token of that
 * id has been replaced already. Throws as {@link replaceExposedToken}.
 */
export function renewToken(session: Keeper, usedId: string | null): Promise<ClientRecord> {
  return session.locks.run('clients', async () => {
    const before = requireToken(await session.store.clients.find(session.caller.id));
    return before.token?.id === usedId ? replaceToken(session, before) : before;
  });
}

async function replaceToken(session: Keeper, before: ClientRecord): Promise<ClientRecord> {
  const { clientPk, token: old } = before;
  const token = await issueToken(session, before, before.expiresAtMs, null);
  if (old !== null) await nodeGroup(session, 'tokens').revoke(old.id);
  const { records } = await session.store.clients.change(before.walletId, (current) => ({
    // The current record is used, because the client may have been revoked meanwhile.
    records: current
      .filter((one) => one.clientPk === clientPk && one.token?.id === old?.id)
      .map((one) => ({ ...one, token })),
    budgets: [],
  }));
  return requireToken(records[0]);
}

function requireToken(record: ClientRecord | null | undefined): ClientRecord {
  if (record?.token) return record;
  throw endedCredentials();
}

/** The ids of tokens with this installation's mark and of no client in use (docs/decisions.md 69). */
export async function strayTokens(session: Keeper): Promise<string[]> {
  const tokens = nodeGroup(session, 'tokens');
  const records = await session.store.clients.list(session.userPk);
  const used = new Set(
    records.flatMap(({ token, revokedAtMs }) => (token && revokedAtMs === null ? [token.id] : [])),
  );
  return (await tokens.list()).filter((id) => !used.has(id));
}

/** Ends the {@link strayTokens} at the node and returns their ids. */
export async function pruneTokens(session: Keeper): Promise<string[]> {
  return session.locks.run('clients', async () => {
    const stray = await strayTokens(session);
    for (const id of stray) await nodeGroup(session, 'tokens').revoke(id);
    return stray;
  });
}
