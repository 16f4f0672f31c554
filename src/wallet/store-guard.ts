import type { Log } from '../lib/log.ts';
import { ApiError } from '../model/errors.ts';
import type { StoreIdentity } from '../store/ports.ts';

/** What stands outside the database, so that a restored one is noticed (decisions section 7). */
export interface StoreMark {
  readonly storeId: string;
  readonly count: number;
}

/** The file that keeps the mark. */
export interface MarkerFile {
  /** Null where there is none yet. */
  read(): StoreMark | null;
  /** Durable when it resolves; never goes backwards. */
  write(mark: StoreMark): Promise<void>;
}

/** Whether budgets can be trusted: a store behind its marker does not know what was spent since. */
export interface StoreGuard {
  /** What is wrong, in a sentence for health; null while all is well. */
  problem(): string | null;
  /** Throws `overBudget` for a client with a budget while the store is behind its marker. */
  requireTrusted(): void;
  /**
   * Brings the marker up to the store; to be awaited before anything is sent for a client with a budget. Throws
   * `overCapacity` when the file cannot be written.
   */
  keepUp(): Promise<void>;
  /** The owner's word that the budgets may be used as they stand. */
  confirm(): Promise<void>;
}

/** The marker is this far ahead while a restored store is not confirmed: the store counts on and must not reach it. */
const UNCONFIRMED_LEAD = 2 ** 32;

/** Compares the store with its marker, and counts this start in both. */
export async function openStoreGuard(
  identity: StoreIdentity,
  marker: MarkerFile,
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

async function keep(marker: MarkerFile, mark: StoreMark): Promise<void> {
  try {
    await marker.write(mark);
  } catch (error) {
    throw new ApiError(
      'overCapacity',
      'The file that shows a restored database cannot be written: free space on its disk or make it writable, then try again.',
      { cause: error },
    );
  }
}

/** Lets a store that is behind its marker be noticed at every start until the owner confirms. */
async function stayAhead(marker: MarkerFile, storeId: string, count: number): Promise<void> {
  const mark = marker.read();
  if (mark?.storeId !== storeId || mark.count - count > UNCONFIRMED_LEAD / 2) return;
  await marker.write({ storeId, count: mark.count + UNCONFIRMED_LEAD });
}

function problemOf(storeId: string, count: number, mark: StoreMark | null): string | null {
  const next = 'The wallet owner confirms the budgets with "wallet-sidecar clients confirm".';
  if (mark === null) {
    // Counted up already, so it had a marker: it is a copy, or the marker was removed.
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
