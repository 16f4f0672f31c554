import { updatedIndexOf } from '../model/payment.ts';
import type { Session } from './session.ts';

/** Payments read from the node and written to the cache at a time: bounds memory whatever the history's length. */
const SYNC_PAGE = 1000;

/**
 * Brings what is new or updated since the last sync into the cache (contract, sync_payments). One sync of a wallet
 * at a time, so that the counts of two callers add up to what changed.
 */
export function syncPayments(session: Session): Promise<{ numNew: number; numUpdated: number }> {
  const { cache } = session.store;
  return session.locks.run('sync', async () => {
    let [numNew, numUpdated] = [0, 0];
    let cursor = await cache.cursor(session.userPk);
    while (true) {
      const page = await session.history.updatedAfter(cursor, SYNC_PAGE);
      const last = page.at(-1);
      if (!last) return { numNew, numUpdated };
      cursor = updatedIndexOf(last);
      const counts = await cache.apply(session.userPk, page, cursor);
      numNew += counts.numNew;
      numUpdated += counts.numUpdated;
    }
  });
}
