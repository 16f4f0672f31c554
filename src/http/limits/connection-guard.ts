import type { Log } from '../../lib/log.ts';
import type { EndSilentConnections } from './silent-connections.ts';

/** Most descriptors kept free for deliveries, node calls and the database. */
const MOST_RESERVED = 1024;
/** Memory, too, is limited: beyond so many connections room is made even where descriptors are left. */
const MOST_CONNECTIONS = 16_384;
/** How often is looked while there is room, and while there is not. */
const CALM_MS = 100;
const PRESSED_MS = 10;
/** Making room may take this part of the time. */
const MOST_SHARE = 0.2;
/** Pauses between two lines in the log about the same flood. */
const LOG_EVERY_MS = 60_000;

interface ConnectionGuardOptions {
  /** How many descriptors the process may have. */
  readonly limit: number;
  /** The lowest free descriptor; null when none is left. */
  readonly lowestFree: () => number | null;
  /** Null where the system does not allow it. */
  readonly endSilent: EndSilentConnections | null;
  /** Closes the connections that wait for their next request; returns how many. */
  readonly closeIdle: () => number;
  readonly port: number;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number;
}

/** Keeps descriptors free, see {@link guardConnections}. */
export interface ConnectionGuard {
  /** Looks once and makes room when there is none; returns when to look again, in milliseconds. */
  look(): number;
}

/**
 * Keeps a reserve of descriptors, so that a flood of connections does not stop deliveries and calls to the node: while
 * more are in use than the limit less the reserve, connections on which no request ever came are ended first, then
 * those that wait for their next request. Connections with a request in progress are never ended.
 */
export function connectionGuard(options: ConnectionGuardOptions): ConnectionGuard {
  const { limit, lowestFree, endSilent, closeIdle, port, log, elapsedMs } = options;
  const most = Math.min(limit - reserveOf(limit), MOST_CONNECTIONS);
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  const isPressed = () => {
    const free = lowestFree();
    return free === null || free >= most;
  };
  return {
    look() {
      if (!isPressed()) return CALM_MS;
      const startedMs = elapsedMs();
      const silent = endSilent?.(port, Math.min(limit, 2 * MOST_CONNECTIONS)) ?? 0;
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
