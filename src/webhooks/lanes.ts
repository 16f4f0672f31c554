import { openPoster, type Poster } from './post.ts';
import { deliverySigner, type SignDelivery } from './sign.ts';
import type { FindTarget } from './target.ts';

/** The most attempts in progress at once, of all endpoints together. */
const MOST_IN_PROGRESS = 512;
/** How many endpoints keep connections while nothing is due for them. */
const KEPT_IDLE = 64;

/** One endpoint: its connections, and its attempts in progress. */
export interface Lane {
  readonly endpoint: string;
  readonly url: string;
  readonly sign: SignDelivery;
  readonly poster: Poster;
  /** Attempts in progress, by webhook-id. */
  readonly inProgress: Map<string, Promise<void>>;
  /** Aborts when the endpoint is deleted, and when the sidecar stops. */
  readonly aborting: AbortController;
}

/** The lanes of all endpoints. An endpoint that hangs fills its own lane, and leaves room to the others. */
interface Lanes {
  /** Returns the lane of an endpoint, opened if needed; null where it has no target. */
  of(endpoint: string): Promise<Lane | null>;
  /** How many more attempts the lane may begin: it takes at most half of what the others leave. */
  room(lane: Lane): number;
  /** Aborts the attempts of an endpoint that was deleted, and closes its connections. */
  close(endpoint: string): void;
  /** Closes the connections of lanes that are idle, but for those that were used last. */
  closeIdle(): void;
  inProgress(): Promise<void>[];
  abortAll(): void;
  closeAll(): void;
}

/** Returns the lanes. `ca` (PEM) is trusted instead of the system's authorities. */
export function openLanes(find: FindTarget, ca?: string): Lanes {
  const lanes = new Map<string, Lane>();
  const total = () => [...lanes.values()].reduce((sum, lane) => sum + lane.inProgress.size, 0);

  function close(endpoint: string): void {
    const lane = lanes.get(endpoint);
    lane?.aborting.abort();
    lane?.poster.close();
    lanes.delete(endpoint);
  }

  return {
    async of(endpoint) {
      const known = lanes.get(endpoint);
      if (known) {
        // A Map keeps insertion order: moving the lane to its end marks it as used last.
        lanes.delete(endpoint);
        lanes.set(endpoint, known);
        return known;
      }
      const target = await find(endpoint);
      if (target === null) return null;
      // Another call may have opened the lane meanwhile.
      const opened = lanes.get(endpoint);
      if (opened) return opened;
      const lane: Lane = {
        endpoint,
        url: target.url,
        sign: deliverySigner(target.secret),
        poster: openPoster(target.url, ca),
        inProgress: new Map(),
        aborting: new AbortController(),
      };
      lanes.set(endpoint, lane);
      return lane;
    },
    room(lane) {
      const own = lane.inProgress.size;
      return Math.max(0, Math.ceil((MOST_IN_PROGRESS - (total() - own)) / 2) - own);
    },
    close,
    closeIdle() {
      const idle = [...lanes.values()].filter(({ inProgress }) => inProgress.size === 0);
      for (const { endpoint } of idle.slice(0, -KEPT_IDLE)) close(endpoint);
    },
    inProgress: () => [...lanes.values()].flatMap((lane) => [...lane.inProgress.values()]),
    abortAll() {
      for (const { aborting } of lanes.values()) aborting.abort();
    },
    closeAll() {
      for (const endpoint of [...lanes.keys()]) close(endpoint);
    },
  };
}
