import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/ports.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Idempotency keys are kept at least 7 days (docs/decisions.md 49). */
const KEYS_KEPT_MS = 8 * DAY_MS;
/** This many of the newest keys are kept at any age, because the clock may be wrong. */
const KEYS_KEPT_COUNT = 10_000;

/** Removes expired rows and gives their space to the disk, now and daily. Returns a function that stops it. */
export function keepHouse(
  store: Pick<Store, 'idempotency' | 'releaseSpace'>,
  log: Log,
): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
  const cleanUp = async () => {
    try {
      const beforeMs = systemClock.now() - KEYS_KEPT_MS;
      await store.idempotency.prune({ beforeMs, keep: KEYS_KEPT_COUNT });
      await store.releaseSpace(signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn(
        'Old idempotency keys and their space could not be freed. The next attempt is in a day.',
        { error },
      );
    }
  };
  void cleanUp();
  const housekeeping = setInterval(() => void cleanUp(), DAY_MS);
  return () => {
    stopping.abort();
    clearInterval(housekeeping);
  };
}
