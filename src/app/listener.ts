import type { AppEnv } from '../http/env.ts';
import { IDLE_SECS } from '../http/limits/idle.ts';
import { urlHost } from '../lib/network/url-host.ts';

/** What answers requests. */
export interface Answering {
  fetch(request: Request, env: AppEnv['Bindings']): Response | Promise<Response>;
}

/** A port on which this process listens. */
export interface Listener {
  readonly port: number;
  /** The base URL, without a slash at the end. */
  readonly baseUrl: string;
  /** Sets the application that answers all requests, including those that are already waiting. */
  answerWith(app: Answering): void;
  /**
   * Makes a request that came in by another protocol, in place of a connection with `peer`. It waits as those that
   * came here do. With a `speaker` it is made in the name of that client, whatever its headers say.
   */
  answer(
    path: string,
    init: RequestInit,
    peer: string | null,
    speaker?: AppEnv['Bindings']['speaker'],
  ): Promise<Response>;
  /** Accepts no further connections. Resolves when the requests in progress have ended. */
  stop(): Promise<void>;
  /** Closes the port and every connection. */
  close(): Promise<void>;
}

/** Listens. Requests wait for `answerWith`, since the port must be known first. Throws for an address in use. */
export function listen({ host, port }: { readonly host: string; readonly port: number }): Listener {
  const ready = Promise.withResolvers<Answering>();
  let answering = ready.promise;
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: IDLE_SECS,
    // The application has a lower limit of its own, whose error has a body.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: async (request): Promise<Response> => (await ready.promise).fetch(request, env),
  });
  const ownPort = server.port ?? 0;
  startHttpClient();
  const env: Required<Pick<AppEnv['Bindings'], 'peer' | 'timeout'>> = {
    timeout: (request: Request, secs: number) => server.timeout(request, secs),
    peer: (request: Request) => server.requestIP(request)?.address ?? null,
  };
  const baseUrl = `http://${urlHost(host)}:${ownPort}`;
  return {
    port: ownPort,
    baseUrl,
    answerWith(app) {
      server.reload({ fetch: (request: Request) => app.fetch(request, env) });
      answering = Promise.resolve(app);
      ready.resolve(app);
    },
    async answer(path, init, peer, speaker) {
      const request = new Request(new URL(path, baseUrl).href, init);
      request.headers.set('host', new URL(baseUrl).host);
      return (await answering).fetch(request, { peer: () => peer, ...(speaker && { speaker }) });
    },
    stop: () => server.stop(),
    close: () => server.stop(true),
  };
}

/**
 * Bun starts the thread of `fetch` when it is first used, and the process ends if no descriptor is free then. So
 * `fetch` is used at the start, in a way that opens no connection (docs/decisions.md 177).
 */
function startHttpClient(): void {
  fetch('http://localhost/', { unix: '/dev/null/none' }).catch(() => undefined);
}
