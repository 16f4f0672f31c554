import type { Hono } from 'hono';
import type { AppEnv } from '../http/env.ts';
import { connectionGuard, keepLooking } from '../http/limits/connection-guard.ts';
import { descriptorLimit, lowestFreeDescriptor } from '../http/limits/descriptors.ts';
import { systemSockets } from '../http/limits/system-sockets.ts';
import { elapsedMs } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { urlHost } from '../lib/url-host.ts';

/** Seconds without progress after which a connection is closed; streams and waits are excepted. */
const IDLE_SECS = 60;

/** Seconds for which a connection may be silent before it costs a descriptor, where the system can hold it back. */
const DEFER_SECS = 30;

/** Descriptors beyond these are not looked at when room is made. */
const MOST_LOOKED_AT = 32_768;

/** A port on which requests are waited for. */
export interface Listener {
  readonly port: number;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** Answers the requests that came in and those that come. */
  answerWith(app: Hono<AppEnv>): void;
  /** Accepts nothing more; resolves when the requests in progress have ended. */
  stop(): Promise<void>;
}

/**
 * Listens at once, since the port must be known to build the application; until then requests wait. Throws when the
 * address is in use.
 */
export function listen(
  { host, port }: { readonly host: string; readonly port: number },
  log: Log,
): Listener {
  const ready = Promise.withResolvers<(request: Request) => Response | Promise<Response>>();
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECS,
    // The application's own limit is lower, and its answers have a body.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: async (request) => (await ready.promise)(request),
  });
  const ownPort = server.port ?? 0;
  const stopGuard = guardDescriptors(server, ownPort, log);
  const env = { timeout: (request: Request, secs: number) => server.timeout(request, secs) };
  return {
    port: ownPort,
    baseUrl: `http://${urlHost(host)}:${ownPort}`,
    answerWith(app) {
      const answer = (request: Request) => app.fetch(request, env);
      server.reload({ fetch: answer });
      ready.resolve(answer);
    },
    stop() {
      stopGuard();
      return server.stop();
    },
  };
}

/** Keeps descriptors for what is not a connection to this port; returns a function that ends that. */
function guardDescriptors(server: Bun.Server<undefined>, port: number, log: Log): () => void {
  startHttpClient();
  const limit = descriptorLimit();
  if (limit === null) return () => undefined;
  const sockets = systemSockets({
    port,
    most: Math.min(limit, MOST_LOOKED_AT),
    deferSecs: DEFER_SECS,
  });
  return keepLooking(
    connectionGuard({
      limit,
      lowestFree: lowestFreeDescriptor,
      endSilent: () => sockets?.endSilent() ?? 0,
      holdBack: (on) => sockets?.holdBack(on),
      closeIdle: () => server.closeIdleConnections(),
      log,
      elapsedMs,
    }),
  );
}

/**
 * Bun starts the thread of `fetch` at its first use, and ends the process when that finds no descriptor. So it is used
 * at once, where no connection comes of it.
 */
function startHttpClient(): void {
  fetch('http://localhost/', { unix: '/dev/null/none' }).catch(() => undefined);
}
