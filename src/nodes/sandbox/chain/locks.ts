import { hex } from '@scure/base';
import { refused } from '../../../model/errors.ts';
import type { SignedSend } from '../../node.ts';
import { change, firstRow } from '../world/rows.ts';
import type { World } from '../world/world.ts';

/** Locks last ten minutes of the sandbox's clock, which is LND's default. */
const LOCK_MS = 10 * 60_000;

/** A coin, by its outpoint `<txid>:<vout>`, that is locked for one signed transaction. */
type CoinLock = SignedSend['locks'][number];

/** Locks coins of the owner, which must not be locked yet, within the caller's database transaction. */
export function lockCoins(
  world: World,
  owner: string,
  coins: readonly { readonly txid: string; readonly vout: number }[],
): CoinLock[] {
  change(world, 'DELETE FROM chain_locks WHERE expires_ms <= ?', world.clock.now());
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
      if (coin?.spentBy === spentBy) continue;
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
    const sql = 'DELETE FROM chain_locks WHERE id = ? AND owner = ?';
    for (const { id } of locks) change(world, sql, id, owner);
  });
}

function writeLock(world: World, owner: string, { id, outpoint }: CoinLock): void {
  const [txid = '', vout = ''] = outpoint.split(':');
  const untilMs = world.clock.now() + LOCK_MS;
  const sql =
    'INSERT OR REPLACE INTO chain_locks (txid, vout, id, owner, expires_ms) VALUES (?, ?, ?, ?, ?)';
  change(world, sql, txid, Number(vout), id, owner, untilMs);
}

function coinOf(world: World, owner: string, { id, outpoint }: CoinLock) {
  const [txid = '', vout = ''] = outpoint.split(':');
  return firstRow<{ spentBy: string | null; lockedByOther: 0 | 1 }>(
    world,
    `SELECT spent_by AS spentBy, EXISTS (SELECT 1 FROM chain_locks l
       WHERE l.txid = o.txid AND l.vout = o.vout AND l.id <> ? AND l.expires_ms > ?)
       AS lockedByOther
     FROM chain_outputs o WHERE o.txid = ? AND o.vout = ? AND o.owner = ?`,
    id,
    world.clock.now(),
    txid,
    Number(vout),
    owner,
  );
}
