/** When the claim of a delivery ends, and from when on a due time cannot be true. */
export interface Lease {
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  readonly lastPossibleMs: number;
}

/**
 * The lease of an attempt that begins now. No lease or retry is due further ahead than two leases: what seems to be was
 * written before the clock was set back, and is due at once.
 */
export function leaseFrom(nowMs: number, leaseMs: number): Lease {
  return { nowMs, leaseUntilMs: nowMs + leaseMs, lastPossibleMs: nowMs + 2 * leaseMs };
}
