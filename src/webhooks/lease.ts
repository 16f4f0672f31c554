/** The times of a claim, in milliseconds: its beginning, the lease's end, the latest due time that can be true. */
interface Lease {
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  readonly lastPossibleMs: number;
}

/**
 * Returns the lease of an attempt that begins at `nowMs`. No lease or retry is due later than two leases from then. A
 * delivery that seems to be was written before the clock was set back, and is due at once.
 */
export function leaseFrom(nowMs: number, leaseMs: number): Lease {
  return { nowMs, leaseUntilMs: nowMs + leaseMs, lastPossibleMs: nowMs + 2 * leaseMs };
}
