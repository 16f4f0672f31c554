const HOUR_MS = 3_600_000;
/** How long a name can be changed after it was claimed (contract, Limits). */
const WINDOW_MS = 24 * HOUR_MS;
/** How long it is frozen then. */
const FREEZE_MS = 90 * 24 * HOUR_MS;

/** Whether a name whose window opened at `windowMs` can be changed now: within the window, and after the freeze. */
export function isUpdatable(windowMs: number, nowMs: number): boolean {
  return nowMs < windowMs + WINDOW_MS || nowMs >= frozenUntilMs(windowMs);
}

/** When the freeze of a name ends whose window opened at `windowMs`. */
export function frozenUntilMs(windowMs: number): number {
  return windowMs + WINDOW_MS + FREEZE_MS;
}

/**
 * The window of a name that is changed now: a change within the window does not make it longer, and the first one
 * after the freeze opens the next 24 hours (decisions section 12).
 */
export function windowAfterChange(windowMs: number, nowMs: number): number {
  return nowMs >= frozenUntilMs(windowMs) ? nowMs : windowMs;
}
