const HOUR_MS = 3_600_000;
/** How long a name can be changed after it was claimed (docs/decisions.md 99). */
const WINDOW_MS = 24 * HOUR_MS;
/** How long the name is frozen after that. */
const FREEZE_MS = 90 * 24 * HOUR_MS;

/** Whether a name can be changed now: within the window that opened at `windowMs`, and after the freeze. */
export function isUpdatable(windowMs: number, nowMs: number): boolean {
  return nowMs < windowMs + WINDOW_MS || nowMs >= frozenUntilMs(windowMs);
}

/** When the freeze ends of a name whose window opened at `windowMs`. */
export function frozenUntilMs(windowMs: number): number {
  return windowMs + WINDOW_MS + FREEZE_MS;
}

/**
 * The start of the window after a name is changed now. A change within the window does not make it longer; the first
 * change after the freeze opens the next 24 hours (docs/decisions.md 99).
 */
export function windowAfterChange(windowMs: number, nowMs: number): number {
  return nowMs >= frozenUntilMs(windowMs) ? nowMs : windowMs;
}
