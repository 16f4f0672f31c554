import type { Log } from '../lib/log.ts';
import type { Mark } from '../lib/marker-file.ts';
import type { GuardMarker } from './store-guard.ts';

/** The least time between two writes of the file. */
const WRITE_EVERY_MS = 2000;

/**
 * Keeps the marker of a process that stands by up with the store, so that clients with budgets can go on spending when
 * it takes over. `follow` must be called only while the process that leads trusts the store. A marker that is ahead of
 * the store, or of another store, stays as it is: taking over shows then that the store was restored or replaced.
 */
export function markerFollower(
  marker: GuardMarker,
  { log, elapsedMs }: { readonly log: Log; readonly elapsedMs: () => number },
): { follow(store: Mark): void } {
  let known = marker.read();
  let writtenAtMs = Number.NEGATIVE_INFINITY;
  let isWarned = false;
  const warnOnce = (message: string, fields: Record<string, unknown> = {}) => {
    if (!isWarned) log.warn(message, fields);
    isWarned = true;
  };
  return {
    follow(store) {
      if (known !== null && (known.storeId !== store.storeId || known.count > store.count)) {
        warnOnce(
          'The marker file of this sidecar does not fit the database, which was restored or replaced: when this sidecar leads, clients with budgets cannot spend until the wallet owner confirms them.',
        );
        return;
      }
      if (known?.count === store.count || elapsedMs() - writtenAtMs < WRITE_EVERY_MS) return;
      known = store;
      writtenAtMs = elapsedMs();
      marker.write(store).catch((error) => {
        warnOnce('The marker file of the database cannot be written: make it writable.', { error });
      });
    },
  };
}
