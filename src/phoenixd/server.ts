import type { ReadableStreamDefaultReader } from 'node:stream/web';
import { IDLE_SECS } from '../http/limits/idle.ts';
import { limitHead } from '../http/limits/request-head.ts';
import { localGuard } from '../http/middleware/guards.ts';
import { systemClock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { sleep } from '../lib/sleep.ts';
import { ApiError } from '../model/errors.ts';
import { type Caller, callerOf, Form, Refusal } from './caller.ts';
import { CALLS } from './calls.ts';
import { received } from './events.ts';

/** Forms are small. The application has bounds of its own for what is made of them. */
const MOST_BODY_BYTES = 64 * 1024;
const BODY_WITHIN_MS = 5000;
/** A websocket whose client leaves that much unread is closed. */
const MOST_UNREAD_BYTES = 1024 * 1024;

interface PhoenixdOptions {
  readonly host: string;
  readonly port: number;
  /** Returns the Host headers that name this server when it listens on that port. */
  readonly allowedHosts: (port: number) => ReadonlySet<string>;
  /** Makes a request to the sidecar's own application, in place of a connection with that other end. */
  readonly ask: (path: string, init: RequestInit, peer: string | null) => Promise<Response>;
  readonly log: Log;
}

/** A server of phoenixd's API. `stop` resolves when requests in progress have ended; by force it ends them. */
export type Phoenixd = { stop(byForce?: boolean): Promise<void> };

/**
 * Listens for clients of phoenixd. Each call becomes requests to the application in the name of one client, so grants,
 * budgets, keys and errors are those of the HTTP API (docs/decisions.md 199). Throws when the address is in use.
 */
export function openPhoenixd({ host, port, allowedHosts, ask, log }: PhoenixdOptions): Phoenixd {
  const paying = new Set<string>();
  const server = Bun.serve<ReadableStreamDefaultReader<string>>({
    hostname: host,
    port,
    idleTimeout: IDLE_SECS,
    maxRequestBodySize: MOST_BODY_BYTES,
    fetch: (request) => answer(request).catch((error) => refused(error, log)),
    websocket: {
      backpressureLimit: MOST_UNREAD_BYTES,
      closeOnBackpressureLimit: true,
      async open(socket) {
        const tell = async () => {
          for await (const one of received(socket.data, systemClock.now)) socket.send(jsonOf(one));
        };
        await tell().catch(() => undefined);
        socket.close(1001);
      },
      message: () => undefined,
      close: (socket) => void socket.data.cancel().catch(() => undefined),
    },
  });
  const guard = localGuard({ allowedHosts: allowedHosts(server.port ?? 0) });

  async function answer(request: Request): Promise<Response> {
    limitHead(request);
    guard(request);
    const url = new URL(request.url);
    const peer = server.requestIP(request)?.address ?? null;
    const caller = callerOf(request.headers, (path, init) => ask(path, init, peer));
    if (url.pathname === '/websocket') return listening(request, caller);
    const [, list, id = ''] = /^(\/payments\/\w+)\/([^/]+)$/.exec(url.pathname) ?? [];
    const path = list === undefined ? url.pathname : `${list}/:id`;
    const call = CALLS.get(`${request.method} ${path}`);
    if (!call) throw new Refusal(404, `No such call: ${request.method} ${url.pathname}`);
    const form = new Form(await fieldsOf(request, url));
    // A payment takes its time; only what is slow to send is given up.
    server.timeout(request, 0);
    const made = call({ caller, form, id, paying, nowMs: systemClock.now() });
    const result = await made.finally(() => server.timeout(request, IDLE_SECS));
    if (result === null) throw new Refusal(404, 'Not found');
    if (result instanceof Response) {
      const type = result.headers.get('content-type') ?? 'text/plain';
      return respond(result.body, type, result.status);
    }
    if (typeof result === 'string') return respond(result, 'text/plain');
    return respond(jsonOf(result), 'application/json');
  }

  /** Opens the stream of events before the websocket, so that who may not read it has an error for an answer. */
  async function listening(request: Request, caller: Caller): Promise<Response> {
    const { body } = await caller.ask('GET', '/v2/node/events');
    const events = body ?? new ReadableStream<Uint8Array>();
    const data = events.pipeThrough(new TextDecoderStream()).getReader();
    // The runtime answers an upgraded request itself.
    if (server.upgrade(request, { data })) return undefined as never;
    await data.cancel();
    throw new Refusal(426, 'This is a websocket.');
  }

  return server;
}

async function fieldsOf(request: Request, url: URL): Promise<URLSearchParams> {
  const late = new AbortController();
  const slow = sleep(BODY_WITHIN_MS, late.signal).then(() => null);
  const body = await Promise.race([request.text(), slow]).finally(() => late.abort());
  if (body === null) throw new Refusal(408, 'The body did not arrive within 5 seconds.');
  const type = request.headers.get('content-type')?.toLowerCase() ?? '';
  if (body !== '' && !type.startsWith('application/x-www-form-urlencoded')) {
    throw new Refusal(415, 'The body must be a form: application/x-www-form-urlencoded.');
  }
  return new URLSearchParams([...url.searchParams, ...new URLSearchParams(body)]);
}

/** JSON as phoenixd writes it: what there is not is left out. Amounts are numbers. */
const jsonOf = (value: object): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : (one ?? undefined)));

/** What is answered holds money or names, and is kept nowhere (docs/decisions.md 166). */
function respond(body: Response['body'] | string, type: string, status = 200): Response {
  return new Response(body, {
    status,
    headers: { 'content-type': type, 'cache-control': 'no-store' },
  });
}

function refused(error: unknown, log: Log): Response {
  if (error instanceof ApiError) return respond(error.message, 'text/plain', error.httpStatus);
  if (!(error instanceof Refusal)) {
    log.error("A call of phoenixd's API failed.", { error });
    return respond('Internal error: the log of the sidecar says more.', 'text/plain', 500);
  }
  const named = error.message.replace(/^(fallback_)?amount(?=:)/, 'amountSat');
  const answer = respond(named, 'text/plain', error.status);
  if (error.status === 401) answer.headers.set('www-authenticate', 'Basic realm="phoenixd"');
  return answer;
}
