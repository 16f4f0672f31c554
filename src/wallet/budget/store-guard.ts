import type { Mark, Marker } from '../../lib/files/marker-file.ts';
import { keyedLock } from '../../lib/keyed-lock.ts';
import type { Log } from '../../lib/log.ts';
import { ApiError } from '../../model/errors.ts';
import type { Advance, StoreIdentity, StoreStanding } from '../../store/ports.ts';
import type { StoreGuard } from '../session/ports.ts';

/** The marker file, as far as the guard uses it. */
export type GuardMarker = Pick<Marker, 'read' | 'write'>;

/**
 * Compares the store with its marker, and counts this start in both. Logs what is wrong, and keeps it in the store, so
 * that every process that leads after this one knows it. From then on it compares them again whenever another database
 * may have taken the store's place (docs/decisions.md 145).
 */
export async function openStoreGuard(
  identity: StoreIdentity,
  marker: GuardMarker,
  log: Log,
): Promise<StoreGuard> {
  const { id: storeId, isSigned } = identity;
  const markOf = (newest: Advance): Mark => ({ storeId, ...newest, ...(isSigned && { isSigned }) });
  let problem: string | null = null;
  const marked = marker.read();
  let mark = marked;
  let confirmations = 0;
  const locks = keyedLock();

  /** Keeps in the store what is wrong, again each time, since the database may have been replaced by another copy. */
  const keepDistrust = () =>
    locks.run('confirmation', async () => {
      if (problem !== null) await identity.distrust(mark?.count ?? 0);
    });

  function found(why: string): Promise<void> {
    problem = why;
    log.warn(why);
    return keepDistrust();
  }

  /** Compares, and returns the newest advance of a store that fits; null for one that does not. */
  async function look(): Promise<Mark | null> {
    const before = confirmations;
    const standing = await identity.standing(mark);
    if (before !== confirmations) return look();
    const why = standingProblem(standing);
    if (problem === null && why === null) return markOf(standing.newest);
    await (problem === null && why !== null ? found(why) : keepDistrust());
    return null;
  }

  async function keepUp(): Promise<void> {
    const newest = await look();
    if (newest === null) return;
    if (mark === null || newest.count > mark.count) mark = newest;
    await keep(marker, newest);
  }

  function requireTrusted(): void {
    if (problem === null) return;
    throw new ApiError('overBudget', `${problem} Until then clients with a budget cannot spend.`, {
      data: { remaining: '0' },
    });
  }

  const standing = await identity.standing(marked?.storeId === storeId ? marked : null);
  const why = problemAtStart(storeId, standing, marked);
  if (why !== null) await found(why);
  await identity.advance();
  await keepUp();
  // Where it cannot be read now, there will be another connection, and each spend looks too.
  identity.onDoubt(oneAtATime(look));

  return {
    problem: () => problem,
    requireTrusted,
    keepUp,
    async requireKept() {
      await keepUp();
      requireTrusted();
    },
    confirm: () =>
      locks.run('confirmation', async () => {
        const made = await identity.confirm(marker.read()?.count ?? 0);
        confirmations += 1;
        mark = markOf(made);
        await keep(marker, mark);
        problem = null;
      }),
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

/** Returns a function that runs `work`, once more after a run during which it was called. It hides errors. */
function oneAtATime(work: () => Promise<unknown>): () => void {
  let running = false;
  let again = false;
  const run = async () => {
    running = true;
    do {
      again = false;
      await work().catch(() => undefined);
    } while (again);
    running = false;
  };
  return () => {
    if (running) again = true;
    else void run();
  };
}

const NEXT = 'The wallet owner confirms the budgets with "wallet-sidecar clients confirm".';

/** Returns what health says of a store that is started beside a marker; null where all is right. */
export function problemAtStart(
  storeId: string,
  standing: StoreStanding,
  mark: Mark | null,
): string | null {
  // A store that has counted before had a marker: it is a copy, or the marker was removed.
  if (mark === null && standing.newest.count > 0) {
    return `The marker file of the database is missing, so it may be an older copy that does not know everything that was spent. ${NEXT}`;
  }
  if (mark !== null && mark.storeId !== storeId) {
    return `The database is not the one that was used here before: that one was lost or replaced. Clients of that one are unknown here: create them again, and end their tokens at the node with "wallet-sidecar clients prune". ${NEXT}`;
  }
  return standingProblem(standing);
}

function standingProblem({ lineage, isUnconfirmed }: StoreStanding): string | null {
  if (lineage === 'behind') {
    return `The database was restored from an older copy, so it does not know everything that was spent. ${NEXT}`;
  }
  if (lineage === 'branched') {
    return `The database was restored from an older copy and used since, or two copies of it were used, so it does not know everything that was spent. ${NEXT}`;
  }
  if (!isUnconfirmed) return null;
  return `The database was restored from an older copy or replaced, and its budgets are not confirmed yet. ${NEXT}`;
}
