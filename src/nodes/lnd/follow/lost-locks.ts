import type { Payment } from '../../../model/payment.ts';
import { LND_LOCK_ID } from '../reads/coin-locks.ts';
import { giveBack, lockedText, readLeases } from '../reads/leases.ts';
import type { Look } from './look.ts';

/**
 * Releases the locks of this installation that no send has, where there may be any: those of a process that was killed,
 * and of requests that arrived after they were given up (docs/decisions.md 152). A send has them while this process
 * makes it, and while the store has it unfinished. Returns the unfinished
 * payments on chain. A lost lock under LND's own id is logged, and ends by itself.
 */
export async function withoutLostLocks(look: Look): Promise<readonly Payment[]> {
  const { rest, wallet, log } = look;
  const { coinLocks } = wallet;
  const untold = coinLocks.takeUntold();
  // In this order: a send is kept before it locks coins, and let go after the store shows it.
  const leases = untold || coinLocks.mayBeLost ? await readLeases(rest) : [];
  const { kept } = coinLocks;
  const unfinished = (await look.open('onchain')).filter(({ rail }) => rail === 'onchain');
  const needed = new Set([...kept, ...unfinished.map((payment) => coinLocks.idOf(payment))]);
  const lost = leases.filter(({ id }) => coinLocks.owns(id) && !needed.has(id));
  await giveBack({ owner: rest, wallet }, lost);
  const ofLnd = leases.filter(({ id }) => id === LND_LOCK_ID);
  if (untold && ofLnd.length > 0) {
    log.warn(
      `The answer to a choice of coins was lost, and LND before 0.19 names nobody in its locks. ${lockedText(ofLnd)}`,
      { walletId: wallet.userPk },
    );
  }
  return unfinished;
}
