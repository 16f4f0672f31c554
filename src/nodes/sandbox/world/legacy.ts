import { type FirstClient, type LegacyClient, tokenText } from './first-clients.ts';
import { allRows } from './rows.ts';
import { walletKeys } from './wallets.ts';
import type { World } from './world.ts';

/**
 * Returns the clients of version 0.1, for the store that keeps clients now. Every call returns the same clients; those
 * whose token was revoked in between are marked as revoked.
 */
export function legacyClients(world: World): LegacyClient[] {
  return allRows<LegacyRow>(
    world,
    `SELECT id, user_pk AS walletId, revoked_ms AS revokedAtMs, first_client AS first FROM tokens
     WHERE first_client IS NOT NULL ORDER BY id`,
  ).map(({ id, walletId, revokedAtMs, first }) => ({
    ...(JSON.parse(first) as FirstClient),
    walletId,
    revokedAtMs,
    token: { id, token: tokenText(walletKeys(world, walletId).nodeSecretKey, id) },
  }));
}

type LegacyRow = Pick<LegacyClient, 'walletId' | 'revokedAtMs'> & { id: string; first: string };

/** Deletes the clients that {@link legacyClients} returns; their tokens stay valid. */
export function forgetLegacyClients(world: World): void {
  world.transact(() => world.db.run('UPDATE tokens SET first_client = NULL'));
  world.commit();
}

/** A name that version 0.2 kept in the sandbox's file. */
export interface LegacyName {
  readonly walletId: string;
  readonly username: string;
  readonly offer: string;
  /** When the 24 hours began in which it can be changed. */
  readonly windowAtMs: number;
}

/** Returns the names of version 0.2, for the store that keeps names now. */
export function legacyNames(world: World): LegacyName[] {
  return allRows(
    world,
    `SELECT user_pk AS walletId, username, offer, window_ms AS windowAtMs
     FROM names ORDER BY user_pk`,
  );
}

/** Deletes the names that {@link legacyNames} returns. */
export function forgetLegacyNames(world: World): void {
  world.transact(() => world.db.run('DELETE FROM names'));
  world.commit();
}
