/** Bounds how often something may happen, for each key apart. */
export interface RateLimit {
  /** Counts one use of the key. Returns false when the key has no use left now. */
  take(key: string): boolean;
}

interface RateLimitOptions {
  readonly burst: number;
  readonly perSec: number;
  /** The most keys that are remembered. Beyond it the key that was used longest ago is forgotten. */
  readonly mostKeys: number;
  /** A monotonic time in milliseconds. */
  readonly elapsedMs: () => number;
}

/** Creates a limit whose memory is bounded. */
export function rateLimit({ burst, perSec, mostKeys, elapsedMs }: RateLimitOptions): RateLimit {
  // A Map keeps insertion order: the first key is the one that was used longest ago.
  const keys = new Map<string, { readonly left: number; readonly atMs: number }>();
  return {
    take(key) {
      const atMs = elapsedMs();
      const known = keys.get(key) ?? { left: burst, atMs };
      const left = Math.min(burst, known.left + ((atMs - known.atMs) / 1000) * perSec);
      const allowed = left >= 1;
      keys.delete(key);
      keys.set(key, { left: allowed ? left - 1 : left, atMs });
      const [oldest] = keys.keys();
      if (keys.size > mostKeys && oldest !== undefined) keys.delete(oldest);
      return allowed;
    },
  };
}
