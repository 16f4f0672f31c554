/** Delays that double from `firstMs` up to `mostMs`. */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly mostMs: number;
  /** Part of each delay, from 0 to 1, that is random, so that many clients do not return together. */
  readonly jitter: number;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
}

/** Returns the delay in milliseconds after attempt number `attempt`, counted from 1, has failed. */
export function backoffDelayMs(attempt: number, options: BackoffOptions): number {
  const full = Math.min(options.mostMs, options.firstMs * 2 ** (attempt - 1));
  return Math.round(full * (1 - options.jitter / 2 + options.jitter * options.random()));
}
