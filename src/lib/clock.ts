/** Where the time comes from; passed in so that expiries and delays can be tested exactly. */
export interface Clock {
  /** Milliseconds since the UNIX epoch. */
  now(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Milliseconds, with fractions, since a moment that never changes: durations are measured with it, since no clock change moves it. */
export const elapsedMs = (): number => performance.now();
