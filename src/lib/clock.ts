/** A source of the current time. It is passed in, so that tests can set the time (docs/decisions.md 45). */
export interface Clock {
  /** Milliseconds since the UNIX epoch. */
  now(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Returns monotonic milliseconds, with fractions, that no setting of the clock moves (docs/decisions.md 45). */
export const elapsedMs = (): number => performance.now();
