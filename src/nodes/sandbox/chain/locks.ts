import { hex } from '@scure/base';
import { refused } from '../../../model/errors.ts';
import type { World } from '../world/world.ts';

/** Locks last ten minutes of the sandbox's clock, which is LND's default. */
const LOCK_MS = 10 * 60_000;

/** A coin that is locked for one signed transaction. */
export interface CoinLock {
  readonly id: string;
  /** `<txid>:<vout>`. */
  readonly outpoint: string;
}

/** Locks coins of the owner, which must not be locked yet, within the caller's database transaction. */
export function lockCoins(
  world: World,
  owner: string,
  coins: readonly { readonly txid: string; readonly vout: number }[],
): CoinLock[] {
  world.db.query('DELETE FROM chain_locks WHERE expires_ms <= ?').run(world.clock.now());
  const id = hex.encode(world.random(16));
  const locks = coins.map(({ txid, vout }) => ({ id, outpoint: `${txid}:${vout}` }));
  for (const lock of locks) writeLock(world, owner, lock);
  return locks;
}

/**
 * Starts the time of the locks anew. Coins that the transaction `spentBy` has spent are skipped. Throws `refused`, with
 * nothing changed, when another transaction has spent or locked one of the coins.
 */
export function renewLocks(
  world: World,
  owner: string,
  { locks, spentBy }: { readonly locks: readonly CoinLock[]; readonly spentBy: string },
): void {
  world.transact(() => {
    for (const lock of locks) {
      const coin = coinOf(world, owner, lock);
      if (coin !== null && coin.spentBy === spentBy) continue;
      if (coin === null || coin.spentBy !== null || coin.lockedByOther) {
        throw refused(
          'Another transaction now uses the coins of the signed transaction: sign a new one.',
        );
      }
      writeLock(world, owner, lock);
    }
  });
}

/** Releases the locks; does nothing for locks that have ended. */
export function releaseLocks(world: World, owner: string, locks: readonly CoinLock[]): void {
  world.transact(() => {
    const remove = world.db.query('DELETE FROM chain_locks WHERE id = ? AND owner = ?');
    for (const { id } of locks) remove.run(id, owner);
  });
}

function writeLock(world: World, owner: string, { id, outpoint }: CoinLock): void {
  const [txid = '', vout = ''] = outpoint.split(':');
  world.db
    .query(
      'INSERT OR REPLACE INTO chain_locks (txid, vout, id, owner, expires_ms) VALUES (?, ?, ?, ?, ?)',
    )
    .run(txid, Number(vout), id, owner, world.clock.now() + LOCK_MS);
}

function coinOf(world: World, owner: string, { id, outpoint }: CoinLock) {
  const [txid = '', vout = ''] = outpoint.split(':');
  const row = world.db
    .query<
      { spent_by: string | null; locked_by_other: number },
      [string, number, string, number, string]
    >(
      `SELECT spent_by, EXISTS (SELECT 1 FROM chain_locks l
         WHERE l.txid = o.txid AND l.vout = o.vout AND l.id <> ? AND l.expires_ms > ?)
         AS locked_by_other
       FROM chain_outputs o WHERE o.txid = ? AND o.vout = ? AND o.owner = ?`,
    )
    .get(id, world.clock.now(), txid, Number(vout), owner);
  return row && { spentBy: row.spent_by, lockedByOther: row.locked_by_other === 1 };
}
