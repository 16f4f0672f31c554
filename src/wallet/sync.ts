import { updatedIndexOf } from '../model/payment.ts';
import type { Session } from './session.ts';

/**
 * How many payments are read from the node and written to the cache at a time. Other requests are served in between, so
 * a page must take no more than a few milliseconds; it bounds memory for long histories as well.
 */
const SYNC_PAGE = 250;

/**
 * Stores what is new or updated since the last sync in the cache (docs/decisions.md 88). Returns how many payments are
 * new and how many have changed. A wallet has one sync at a time, so that the counts of two callers add up to what
 * changed.
 */
export function syncPayments(session: Session): Promise<{ numNew: number; numUpdated: number }> {
  const { cache } = session.store;
  return session.locks.run('sync', async () => {
    let [numNew, numUpdated] = [0, 0];
    const start = await cache.cursor(session.userPk);
    for await (const page of session.history.pagesAfter(start, SYNC_PAGE)) {
      const last = page.at(-1);
      const cursor = last ? updatedIndexOf(last) : null;
      const counts = await cache.apply(session.userPk, page, cursor);
      numNew += counts.numNew;
      numUpdated += counts.numUpdated;
    }
    return { numNew, numUpdated };
  });
}
