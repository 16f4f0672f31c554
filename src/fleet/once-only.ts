/** Which request of which sidecar a header belongs to. */
export interface Numbered {
  /** Drawn by the process that wrote the header. */
  readonly sender: string;
  /** Counts the requests that this process has passed on. */
  readonly count: number;
  /** When the header was written, by the clock of its machine, in milliseconds. */
  readonly atMs: number;
}

/** A header of this age is not believed, nor is one from that far in the future. The clocks of machines differ. */
const FRESH_MS = 60_000;

interface Sender {
  /** Every count up to this one has been used or is too old. */
  floor: number;
  /** The counts above the floor that were used, each with the time at which it came, oldest first. */
  readonly used: Map<number, number>;
}

/** What a numbered header is: `good` once, then `used`; `stale` where it is not fresh. */
export type Use = 'good' | 'used' | 'stale';

/**
 * Returns a function that says whether a numbered header is good, and counts it as used. What is remembered of a header
 * is forgotten when it is no longer fresh. Its count stays below the floor, so that a clock that is set back makes
 * nothing good again.
 */
export function onceOnly(nowMs: () => number, elapsedMs: () => number): (one: Numbered) => Use {
  const senders = new Map<string, Sender>();
  return ({ sender, count, atMs }) => {
    if (Math.abs(nowMs() - atMs) > FRESH_MS) return 'stale';
    const known = senders.get(sender) ?? { floor: -1, used: new Map<number, number>() };
    senders.set(sender, known);
    const beganMs = elapsedMs();
    for (const [old, cameMs] of known.used) {
      if (beganMs - cameMs <= 2 * FRESH_MS) break;
      known.used.delete(old);
      known.floor = Math.max(known.floor, old);
    }
    if (count <= known.floor || known.used.has(count)) return 'used';
    known.used.set(count, beganMs);
    return 'good';
  };
}
