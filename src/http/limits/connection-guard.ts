import type { Log } from '../../lib/log.ts';

/** The largest reserve of file descriptors for webhooks, node calls and the database (docs/decisions.md 75). */
const MOST_RESERVED = 1024;
/** Descriptors cost memory, so above this number connections are closed even if the system allows more. */
const MOST_IN_USE = 16_384;
/** How often the guard checks: normally, and for `ALERT_FOR_MS` after the reserve was touched. */
const CALM_MS = 100;
const ALERT_MS = 10;
const ALERT_FOR_MS = 5_000;
/** The shortest time for which new connections wait after the reserve was touched. */
const HOLD_MS = 100;
/** The largest share of the time that closing connections may take. */
const MOST_SHARE = 0.2;
/** The shortest time between two log lines. */
const LOG_EVERY_MS = 60_000;

interface ConnectionGuardOptions {
  /** How many descriptors the process may have. */
  readonly limit: number;
  /** Returns the lowest free descriptor; null when none is left. */
  readonly lowestFree: () => number | null;
  /** Closes the connections on which no complete request has arrived. Returns how many it closed. */
  readonly endSilent: () => number;
  /** Closes the connections that wait for their next request. Returns how many it closed. */
  readonly closeIdle: () => number;
  /** Makes new connections wait while it is on. */
  readonly holdBack: (on: boolean) => void;
  readonly log: Log;
  /** Returns monotonic milliseconds. */
  readonly elapsedMs: () => number;
}

/** A guard that {@link connectionGuard} returns. */
export interface ConnectionGuard {
  /** Checks once, and closes connections if the reserve is touched. Returns in how many milliseconds to check again. */
  look(): number;
}

/**
 * Keeps a reserve of file descriptors, so that a flood of connections stops neither webhooks nor calls to the node
 * (docs/decisions.md 75). While the reserve is touched, new connections wait. Connections on which no request has
 * arrived are closed; if there are none, those that wait for their next request. A connection with a request in
 * progress is never closed.
 */
export function connectionGuard(options: ConnectionGuardOptions): ConnectionGuard {
  const { limit, lowestFree, endSilent, closeIdle, holdBack, log, elapsedMs } = options;
  const most = limit - reserveOf(limit);
  let pressedAtMs = Number.NEGATIVE_INFINITY;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let holding = false;
  const hold = (on: boolean) => {
    if (on !== holding) holdBack(on);
    holding = on;
  };
  const isPressed = () => {
    const free = lowestFree();
    return free === null || free >= Math.min(most, MOST_IN_USE);
  };
  const makeRoom = () => {
    const silent = endSilent();
    const idle = silent === 0 ? closeIdle() : 0;
    if (pressedAtMs - loggedAtMs < LOG_EVERY_MS) return;
    loggedAtMs = pressedAtMs;
    log.warn('Too many connections: new ones wait, and those without a request are closed.', {
      limit,
      reserve: limit - most,
      silent,
      idle,
    });
  };
  return {
    look() {
      const nowMs = elapsedMs();
      const pressed = isPressed();
      hold(pressed);
      if (!pressed) return nowMs - pressedAtMs < ALERT_FOR_MS ? ALERT_MS : CALM_MS;
      pressedAtMs = nowMs;
      makeRoom();
      return Math.max(HOLD_MS, (elapsedMs() - nowMs) / MOST_SHARE);
    },
  };
}

/** Returns the size of the reserve: a quarter of the descriptors, at most `MOST_RESERVED`. */
function reserveOf(limit: number): number {
  return Math.min(MOST_RESERVED, Math.ceil(limit / 4));
}

/** Checks again and again while the process runs. Returns a function that stops it. */
export function keepLooking(guard: ConnectionGuard): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const look = () => {
    timer = setTimeout(look, guard.look());
  };
  look();
  return () => clearTimeout(timer);
}
