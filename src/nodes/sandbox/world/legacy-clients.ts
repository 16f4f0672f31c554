import { type FirstClient, type LegacyClient, tokenText } from './first-clients.ts';
import { walletKeys } from './wallets.ts';
import type { World } from './world.ts';

/**
 * The clients of the first version, for the store that keeps clients now. The same at every call, but for tokens that
 * were revoked since: their clients are revoked.
 */
export function legacyClients(world: World): LegacyClient[] {
  return world.db
    .query<{ id: string; user_pk: string; revoked_ms: number | null; first_client: string }, []>(
      `SELECT id, user_pk, revoked_ms, first_client FROM tokens
       WHERE first_client IS NOT NULL ORDER BY id`,
    )
    .all()
    .map((row) => ({
      ...(JSON.parse(row.first_client) as FirstClient),
      walletId: row.user_pk,
      revokedAtMs: row.revoked_ms,
      token: {
        id: row.id,
        token: tokenText(walletKeys(world, row.user_pk).nodeSecretKey, row.id),
      },
    }));
}

/** Drops what {@link legacyClients} returns; their tokens stay. */
export function forgetLegacyClients(world: World): void {
  world.transact(() => world.db.run('UPDATE tokens SET first_client = NULL'));
  world.commit();
}
