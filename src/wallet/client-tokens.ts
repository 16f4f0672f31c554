import type { ClientRecord, Grant } from '../model/client.ts';
import { endedCredentials, isApiError, refused } from '../model/errors.ts';
import { permissionsOf, sameReach } from './client-policy.ts';
import type { EffectNames } from './effect-names.ts';
import { nodeGroup, type Session } from './session.ts';

/** A token of the node as a client's record keeps it. */
export type MadeToken = NonNullable<ClientRecord['token']>;

/**
 * Makes a token at the node with no more than the grant. With `names`, its identity is named in the key's row before
 * that, so that a repeat after a crash makes it under the same one.
 */
export async function issueToken(
  session: Session,
  grant: Grant,
  expiresAtMs: number | null,
  names: EffectNames | null,
): Promise<MadeToken> {
  const tokens = nodeGroup(session, 'tokens');
  const permissions = permissionsOf(grant);
  const obstacle = tokens.obstacle(permissions);
  if (obstacle !== null) throw refused(obstacle);
  const id = names ? await names.kept('token', () => tokens.newId()) : tokens.newId();
  const token = await tokens.issue({ id, permissions, expiresAtMs });
  return { id, token, exposed: false };
}

/** Whether the client's token has to be ended although no other has taken its place yet. */
function isTokenOver({ token, endedTokenIds }: ClientRecord): boolean {
  return token !== null && endedTokenIds.includes(token.id);
}

/** New tokens for the active clients whose reach is another than their token's. */
export async function renewedTokens(
  session: Session,
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
 * Ends at the node what the records say is over. Left for the next time while the node is out of reach: no holder ever
 * had those tokens.
 */
export async function endTokens(session: Session): Promise<void> {
  const { store, userPk } = session;
  const tokens = nodeGroup(session, 'tokens');
  const ended = new Set<string>();
  for (const { token, endedTokenIds } of await store.clients.list(userPk)) {
    // One that is in use ends when another has taken its place.
    for (const id of endedTokenIds.filter((ended) => ended !== token?.id)) {
      try {
        await tokens.revoke(id);
        ended.add(id);
      } catch (error) {
        // Also where a client has revoked itself, and with that the token by which the node is asked.
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
 * Replaces a token that its client's holder has too, as the first version gave it out: from then on the old one opens
 * nothing at the node. Throws where the node's owner token cannot make another.
 */
export function replaceExposedToken(session: Session, clientPk: string): Promise<ClientRecord> {
  return session.locks.run('clients', async () => {
    const { clients } = session.store;
    const before = await clients.find(clientPk);
    if (!before?.token?.exposed) return requireToken(before);
    const old = before.token;
    const token = await issueToken(session, before, before.expiresAtMs, null);
    await nodeGroup(session, 'tokens').revoke(old.id);
    const { records } = await clients.change(before.walletId, (current) => ({
      // As it stands now: it may have been revoked meanwhile.
      records: current
        .filter((one) => one.clientPk === clientPk && one.token?.id === old.id)
        .map((one) => ({ ...one, token })),
      budgets: [],
    }));
    return requireToken(records[0]);
  });
}

function requireToken(record: ClientRecord | null | undefined): ClientRecord {
  if (record?.token) return record;
  throw endedCredentials();
}

/** Tokens at the node that carry this sidecar's mark and belong to no client that is active. */
export async function strayTokens(session: Session): Promise<string[]> {
  const tokens = nodeGroup(session, 'tokens');
  const records = await session.store.clients.list(session.userPk);
  const used = new Set(
    records.flatMap(({ token, revokedAtMs }) => (token && revokedAtMs === null ? [token.id] : [])),
  );
  return (await tokens.list()).filter((id) => !used.has(id));
}

/** Ends the {@link strayTokens} and returns their identities. */
export async function pruneTokens(session: Session): Promise<string[]> {
  return session.locks.run('clients', async () => {
    const stray = await strayTokens(session);
    for (const id of stray) await nodeGroup(session, 'tokens').revoke(id);
    return stray;
  });
}
