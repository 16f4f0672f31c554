import type { Log } from '../../lib/log.ts';

/** Most descriptors kept free for deliveries, node calls and the database. */
const MOST_RESERVED = 1024;
/** Memory is limited too: beyond so many descriptors room is made even where more are allowed. */
const MOST_IN_USE = 16_384;
/** How often the guard looks while there is room, and while there is none. */
const CALM_MS = 100;
const PRESSED_MS = 10;
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
 * more are in use than the limit less the reserve, connections on which no request ever came are ended first, then
 * those that wait for their next request. Connections with a request in progress are never ended.
 */
export function connectionGuard(options: ConnectionGuardOptions): ConnectionGuard {
  const { limit, lowestFree, endSilent, closeIdle, log, elapsedMs } = options;
  const most = mostInUse(limit);
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  const isPressed = () => {
    const free = lowestFree();
    return free === null || free >= most;
  };
  return {
    look() {
      if (!isPressed()) return CALM_MS;
      const startedMs = elapsedMs();
      const silent = endSilent();
      const idle = silent === 0 ? closeIdle() : 0;
      if (startedMs - loggedAtMs >= LOG_EVERY_MS) {
        loggedAtMs = startedMs;
        log.warn('Too many connections: those without a request were ended.', {
          limit,
          reserve: limit - most,
          silent,
          idle,
        });
      }
      return Math.max(PRESSED_MS, (elapsedMs() - startedMs) / MOST_SHARE);
    },
  };
}

/** The limit less the reserve: a quarter of the descriptors of a small process, and enough for a large one. */
function mostInUse(limit: number): number {
  return Math.min(limit - Math.min(MOST_RESERVED, Math.ceil(limit / 4)), MOST_IN_USE);
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
