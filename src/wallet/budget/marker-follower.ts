import type { Mark } from '../../lib/files/marker-file.ts';
import type { Log } from '../../lib/log.ts';
import type { StoreStanding } from '../../store/ports.ts';
import type { GuardMarker } from './store-guard.ts';

/** The least time between two writes of the file. */
const WRITE_EVERY_MS = 2000;

/** Keeps the marker of a process that stands by up with the store. */
interface MarkerFollower {
  /** What the marker holds or will hold; null while that is nothing. The store's standing is compared with it. */
  marked(): Mark | null;
  /** Called with each look at the store, and only while the process that leads trusts it. */
  follow(store: { readonly storeId: string } & StoreStanding): void;
  /** Writes what the last look has shown, before this process takes over. Rejects when the file cannot be written. */
  settle(): Promise<void>;
}

/**
 * Keeps the marker up, so that clients with budgets can go on spending when this process takes over. A marker that does
 * not fit the store, or is of another one, stays as it is: taking over shows then that the store was restored or
 * replaced. So it does while the store is not confirmed.
 */
export function markerFollower(
  marker: GuardMarker,
  { log, elapsedMs }: { readonly log: Log; readonly elapsedMs: () => number },
): MarkerFollower {
  let known = marker.read();
  let written = known;
  let writtenAtMs = Number.NEGATIVE_INFINITY;
  let isWarned = false;
  const warnOnce = (message: string, fields: Record<string, unknown> = {}) => {
    if (!isWarned) log.warn(message, fields);
    isWarned = true;
  };
  return {
    marked: () => known,
    follow({ storeId, newest, lineage, isUnconfirmed }) {
      if (known !== null && (known.storeId !== storeId || lineage !== 'same')) {
        warnOnce(
          'The marker file of this sidecar does not fit the database, which was restored or replaced: when this sidecar leads, clients with budgets cannot spend until the wallet owner confirms them.',
        );
        return;
      }
      if (isUnconfirmed || written?.count === newest.count) return;
      known = { ...known, storeId, ...newest };
      if (elapsedMs() - writtenAtMs < WRITE_EVERY_MS) return;
      written = known;
      writtenAtMs = elapsedMs();
      marker.write(known).catch((error) => {
        warnOnce('The marker file of the database cannot be written: make it writable.', { error });
      });
    },
    async settle() {
      if (known !== null) await marker.write(known);
    },
  };
}
