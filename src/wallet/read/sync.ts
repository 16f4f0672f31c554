import { elapsedMs } from '../../lib/clock.ts';
import { updatedIndexOf } from '../../model/payment.ts';
import { madeBy, seesOnlyOwn } from '../session/own-payments.ts';
import type { Reader, Session } from '../session/session.ts';

/**
 * Stores what is new or updated since the last sync in the cache (docs/decisions.md 88). Returns how many payments are
 * new and how many have changed. A wallet has one sync at a time, so that the counts of two callers add up to what
 * changed, and the cache is not cleared meanwhile.
 */
export function syncPayments(
  session: Reader & Pick<Session, 'locks'>,
): Promise<{ numNew: number; numUpdated: number }> {
  const { cache } = session.store;
  return session.locks.run('sync', async () => {
    let [numNew, numUpdated] = [0, 0];
    const start = await cache.cursor(session.userPk);
    const size = new PageSize();
    const readFrom = session.node.history ? 'node' : 'journal';
    for await (const page of session.history.pagesAfter(start, size)) {
      const startedMs = elapsedMs();
      const last = page.at(-1);
      const cursor = last ? updatedIndexOf(last) : null;
      // How much others have made is none of the caller's who sees only its own.
      const own = seesOnlyOwn(session) ? await madeBy(session, page) : null;
      const ofOwn = own && (await cache.apply(session.userPk, own, null, readFrom));
      const ofAll = await cache.apply(session.userPk, page, cursor, readFrom);
      const counts = ofOwn ?? ofAll;
      numNew += counts.numNew;
      numUpdated += counts.numUpdated;
      size.took(page.length, elapsedMs() - startedMs);
    }
    return { numNew, numUpdated };
  });
}

/** How long storing a page should take: a request that arrives meanwhile waits for it. */
const PAGE_MS = 6;
/** A commit costs a flush to the disk, so fewer are not worth one. */
const FEWEST = 100;
/** This bounds memory, and what a page costs that is read from the node. */
const MOST = 200;

/**
 * How many payments a sync reads and stores at a time. Other requests are served between two pages, so the size follows
 * from the time that pages take (docs/decisions.md 88).
 */
export class PageSize {
  #payments = FEWEST;

  /** The size of the next page. */
  get payments(): number {
    return this.#payments;
  }

  /** Notes how long storing a page took. One that was held up by other work halves the size at most, by the bounds. */
  took(payments: number, ms: number): void {
    const fitting = Math.round((payments * PAGE_MS) / ms);
    this.#payments = Math.min(Math.max(fitting, FEWEST), MOST);
  }
}
