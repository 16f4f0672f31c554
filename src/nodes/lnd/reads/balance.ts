import { walletBalanceShape } from '../words/wire.ts';
import type { LockedCoin } from './leases.ts';
import { lockedCoins } from './leases.ts';
import type { LndHandle } from './wallet.ts';

/** How often the balance is read again because a lock changed meanwhile. */
const MOST_READS = 4;

/** LND's on-chain balance in satoshis. */
interface OnchainBalance {
  /** All coins that no transaction spends, also locked ones. */
  readonly totalSat: bigint;
  /** Whether some of them are unconfirmed. */
  readonly hasUnconfirmed: boolean;
}

/**
 * Reads the balance with the coins that are locked and not spent, which LND leaves out (docs/decisions.md 152). LND's
 * own sum of locked coins is not used, since it also has coins that a published send has spent. `rest` reads the
 * balance, `owner` the locks.
 */
export async function onchainBalance({
  rest,
  owner,
}: Pick<LndHandle, 'rest' | 'owner'>): Promise<OnchainBalance> {
  let locked: readonly LockedCoin[] = [];
  for (let read = 1; ; read++) {
    const balance = await rest.get('/v1/balance/blockchain', walletBalanceShape);
    const isLocked = balance.locked_balance > 0n;
    const now = isLocked ? await lockedCoins(owner) : [];
    // The sum is true only of locks that were there before and after the balance was read.
    if (!isLocked || namesOf(now) === namesOf(locked) || read === MOST_READS) {
      return {
        totalSat: balance.total_balance + sumSat(now),
        hasUnconfirmed: isLocked || balance.unconfirmed_balance !== 0n,
      };
    }
    locked = now;
  }
}

function sumSat(locked: readonly LockedCoin[]): bigint {
  return locked.reduce((sum, { amountSat }) => sum + amountSat, 0n);
}

function namesOf(locked: readonly LockedCoin[]): string {
  return locked
    .map(({ outpoint }) => outpoint)
    .toSorted()
    .join();
}
