import { type FirstClient, type LegacyClient, tokenText } from './first-clients.ts';
import { walletKeys } from './wallets.ts';
import type { World } from './world.ts';

/**
 * Returns the clients of version 0.1, for the store that keeps clients now. Every call returns the same clients; those
 * whose token was revoked in between are marked as revoked.
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

/** Deletes the clients that {@link legacyClients} returns; their tokens stay valid. */
export function forgetLegacyClients(world: World): void {
  world.transact(() => world.db.run('UPDATE tokens SET first_client = NULL'));
  world.commit();
}
