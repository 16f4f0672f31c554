import type { Log } from '../lib/log.ts';
import type { Mark, Marker } from '../lib/marker-file.ts';
import { ApiError } from '../model/errors.ts';
import type { StoreIdentity } from '../store/ports.ts';

/** The marker file, as far as the guard uses it. */
export type GuardMarker = Pick<Marker, 'read' | 'write'>;

/** Guards budgets: a store that is behind its marker was restored, and does not know what was spent since. */
export interface StoreGuard {
  /** Sentences for health that say what is wrong and what to do; null when all is well. */
  problem(): string | null;
  /** Throws `overBudget` (error 109) while the store is behind its marker. It is called for clients with a budget. */
  requireTrusted(): void;
  /**
   * Writes the store's count to the marker. It must be awaited before anything is sent for a client with a budget.
   * Throws `overCapacity` (error 8) when the file cannot be written.
   */
  keepUp(): Promise<void>;
  /** Called when the owner confirms the budgets: clients may spend again. Throws as {@link keepUp} does. */
  confirm(): Promise<void>;
}

/**
 * How far the marker is set ahead of a restored store that is not confirmed. The store's counter goes on growing and
 * must not reach the marker.
 */
const UNCONFIRMED_LEAD = 2 ** 32;

/** Compares the store with its marker, and counts this start in both. Logs what is wrong. */
export async function openStoreGuard(
  identity: StoreIdentity,
  marker: GuardMarker,
  log: Log,
): Promise<StoreGuard> {
  const before = await identity.count();
  const mark = marker.read();
  let problem = problemOf(identity.id, before, mark);
  const count = await identity.advance();
  if (problem === null) await marker.write({ storeId: identity.id, count });
  else {
    log.warn(problem);
    await stayAhead(marker, identity.id, count);
  }

  return {
    problem: () => problem,
    requireTrusted() {
      if (problem === null) return;
      throw new ApiError(
        'overBudget',
        `${problem} Until then clients with a budget cannot spend.`,
        {
          data: { remaining: '0' },
        },
      );
    },
    async keepUp() {
      if (problem !== null) return;
      await keep(marker, { storeId: identity.id, count: await identity.count() });
    },
    async confirm() {
      const atLeast = marker.read()?.count ?? 0;
      await keep(marker, { storeId: identity.id, count: await identity.advance(atLeast) });
      problem = null;
    },
  };
}

async function keep(marker: GuardMarker, mark: Mark): Promise<void> {
  try {
    await marker.write(mark);
  } catch (error) {
    throw new ApiError(
      'overCapacity',
      'The marker file of the database cannot be written: free space on its disk or make it writable, then try again.',
      { cause: error },
    );
  }
}

/** Keeps the marker ahead of a restored store, so that it is noticed at every start until the owner confirms. */
async function stayAhead(marker: GuardMarker, storeId: string, count: number): Promise<void> {
  const mark = marker.read();
  if (mark?.storeId !== storeId || mark.count - count > UNCONFIRMED_LEAD / 2) return;
  await marker.write({ storeId, count: mark.count + UNCONFIRMED_LEAD });
}

function problemOf(storeId: string, count: number, mark: Mark | null): string | null {
  const next = 'The wallet owner confirms the budgets with "wallet-sidecar clients confirm".';
  if (mark === null) {
    // The store has counted before, so it had a marker: it is a copy, or the marker was removed.
    if (count === 0) return null;
    return `The marker file of the database is missing, so it may be an older copy that does not know everything that was spent. ${next}`;
  }
  if (mark.storeId !== storeId) {
    return `The database is not the one that was used here before: that one was lost or replaced. Clients of that one are unknown here: create them again, and end their tokens at the node with "wallet-sidecar clients prune". ${next}`;
  }
  if (mark.count > count) {
    return `The database was restored from an older copy, so it does not know everything that was spent. ${next}`;
  }
  return null;
}
