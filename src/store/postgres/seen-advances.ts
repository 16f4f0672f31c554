import type { Advance } from '../ports.ts';

/**
 * The advances that this process has committed, for finding out that the database went back meanwhile. Those that were
 * found in it together are of one history, in which the newest shows that all before are there.
 */
export interface SeenAdvances {
  add(made: Advance): void;
  /** Those to look for: the newest that was found, and every later one. */
  all(): readonly Advance[];
  /** Called when all of these were found in the database at one moment. */
  found(these: readonly Advance[]): void;
  /** The owner vouches for the database as it is, with this advance. */
  restart(made: Advance): void;
}

/**
 * A send with a budget looks for its own advance before it goes on, and 8 transactions run at once, so this many are
 * never waited for. Advances for which nobody looks, such as that of a client whose budget was lifted, do not pile up.
 */
const MOST = 64;

/** Returns an empty list. */
export function seenAdvances(): SeenAdvances {
  let seen: Advance[] = [];
  return {
    add(made) {
      seen.push(made);
      if (seen.length > MOST) seen.shift();
    },
    all: () => [...seen],
    found(these) {
      const newest = these.reduce<Advance | null>(
        (best, one) => (best === null || one.count > best.count ? one : best),
        null,
      );
      seen = seen.filter((one) => one === newest || !these.includes(one));
    },
    restart(made) {
      seen = [made];
    },
  };
}
