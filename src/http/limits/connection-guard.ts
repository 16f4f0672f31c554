import type { Log } from '../../lib/log.ts';

/** Most descriptors kept free for deliveries, node calls and the database. */
const MOST_RESERVED = 1024;
/** Memory is limited too: beyond so many descriptors room is made even where more are allowed. */
const MOST_IN_USE = 16_384;
/** How often the guard looks, and how often for a while after there was no room. */
const CALM_MS = 100;
const ALERT_MS = 10;
const ALERT_FOR_MS = 5_000;
/** For so long at least new connections wait when there was no room. */
const HOLD_MS = 100;
/** Making room may take this part of the time. */
const MOST_SHARE = 0.2;
/** Pause between two lines in the log. */
const LOG_EVERY_MS = 60_000;

interface ConnectionGuardOptions {
  /** How many descriptors the process may have. */
  readonly limit: number;
  /** The lowest free descriptor; null when none is left. */
  readonly lowestFree: () => number | null;
  /** Ends the connections whose client has not sent a request; returns how many. */
  readonly endSilent: () => number;
  /** Closes the connections that wait for their next request; returns how many. */
  readonly closeIdle: () => number;
  /** While on, new connections wait. */
  readonly holdBack: (on: boolean) => void;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number;
}

/** Keeps a reserve of descriptors, see {@link connectionGuard}. */
export interface ConnectionGuard {
  /** Looks once and makes room when there is none; returns when to look again, in milliseconds. */
  look(): number;
}

/**
 * Keeps a reserve of descriptors, so that a flood of connections stops neither deliveries nor calls to the node: while
 * more are in use than the limit less the reserve, new connections wait, and of those that are there the ones on which no
 * request ever came are ended, or else those that wait for their next request. Connections with a request in progress
 * are never ended.
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
    log.warn('Too many connections: new ones wait, and those without a request were ended.', {
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

/** A quarter of the descriptors of a small process, and enough for a large one. */
function reserveOf(limit: number): number {
  return Math.min(MOST_RESERVED, Math.ceil(limit / 4));
}

/** Looks for as long as the process runs; returns a function that ends that. */
export function keepLooking(guard: ConnectionGuard): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const look = () => {
    timer = setTimeout(look, guard.look());
  };
  look();
  return () => clearTimeout(timer);
}
