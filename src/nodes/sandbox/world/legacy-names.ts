import { allRows } from './rows.ts';
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
