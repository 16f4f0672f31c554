import type { World } from './world.ts';

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
  return world.db
    .query<{ user_pk: string; username: string; offer: string; window_ms: number }, []>(
      'SELECT user_pk, username, offer, window_ms FROM names ORDER BY user_pk',
    )
    .all()
    .map(({ user_pk, username, offer, window_ms }) => ({
      walletId: user_pk,
      username,
      offer,
      windowAtMs: window_ms,
    }));
}

/** Deletes the names that {@link legacyNames} returns. */
export function forgetLegacyNames(world: World): void {
  world.transact(() => world.db.run('DELETE FROM names'));
  world.commit();
}
