import type { Context } from 'hono';
import { ApiError, rejected } from '../model/errors.ts';
import { encodePayment } from '../model/payment.ts';
import type { Session } from '../wallet/session.ts';
import { waitForFinal } from '../wallet/wait.ts';
import type { AppEnv } from './env.ts';
import {
  fingerprint,
  type IdempotentRequests,
  type Outcome,
  readIdempotencyKey,
} from './middleware/idempotency.ts';
import { parseQuery } from './middleware/validate.ts';
import type { Parts } from './parts.ts';
import { RawJson, Reply, type RequestContext, type Route } from './route.ts';

/** What every route runs with. */
export interface Runner {
  readonly parts: Parts;
  /** Aborts when the server stops, with the error 8 that ends waits. */
  readonly stopping: AbortSignal;
  readonly idempotent: IdempotentRequests;
}

/** Made once: an object would be made into headers for each answer. */
const JSON_HEADERS = new Headers({ 'content-type': 'application/json' });

/** Answers a request whose session is open and whose body is parsed. */
export type RunRoute = (
  context: Context<AppEnv>,
  session: Session | undefined,
  body: unknown,
) => Promise<Response>;

/** Calls the route's own handler, and once per Idempotency-Key where one is given. */
export function runRoute(route: Route, runner: Runner): RunRoute {
  const once = route.method === 'post' && route.path.startsWith('/v2/node/');
  return async (context, session, body) => {
    const query = route.query ? parseQuery(route.query, context.req.query()) : undefined;
    const key = once ? readIdempotencyKey(context.req.header('idempotency-key')) : null;
    const request = new HandledRequest(runner, context, session, key);
    const input = { body, query };
    if (key === null || session === undefined) {
      const result = await route.handler(request, input);
      return result instanceof Response ? result : respond(outcomeOf(result));
    }
    return respond(
      await runner.idempotent.run({
        walletId: session.userPk,
        key,
        fingerprint: fingerprint(route.method, route.path, body ?? null, query ?? null),
        nowMs: runner.parts.clock.now(),
        execute: async () => outcomeOf(await route.handler(request, input)),
        resume: async (index) =>
          outcomeOf(encodePayment(await waitForFinal(session, index, request.signal))),
      }),
    );
  };
}

/** What handlers seldom ask for is made when they do: every request passes here. */
class HandledRequest implements RequestContext {
  readonly parts: Parts;
  readonly session: Session | undefined;
  readonly idempotencyKey: string | null;
  readonly #context: Context<AppEnv>;
  readonly #stopping: AbortSignal;
  #signal: AbortSignal | null = null;

  constructor(
    { parts, stopping }: Runner,
    context: Context<AppEnv>,
    session: Session | undefined,
    idempotencyKey: string | null,
  ) {
    this.parts = parts;
    this.session = session;
    this.idempotencyKey = idempotencyKey;
    this.#context = context;
    this.#stopping = stopping;
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal;
    const request = this.#context.req.raw;
    // Such an answer may take as long as a payment does; the server's idle limit must not cut it off.
    this.#context.env?.timeout?.(request, 0);
    // With a key, the outcome is kept for a repeat even when the client has gone away.
    this.#signal =
      this.idempotencyKey === null
        ? AbortSignal.any([request.signal, this.#stopping])
        : this.#stopping;
    return this.#signal;
  }

  get respondAfterMs(): number | null {
    return readPrefer(this.#context.req.header('prefer'));
  }

  get lastEventId(): string | null {
    return this.#context.req.header('last-event-id') ?? null;
  }

  pathParameter(name: string): string {
    return this.#context.req.param(name) ?? '';
  }
}

/** RFC 7240: `respond-async` answers at once, `wait=N` after N seconds; anything else is ignored. */
function readPrefer(header: string | undefined): number | null {
  if (header === undefined) return null;
  const preferences = header
    .toLowerCase()
    .split(/[,;]/)
    .map((part) => part.trim());
  const wait = preferences.map((part) => /^wait="?(\d{1,6})"?$/.exec(part)?.[1]).find(Boolean);
  if (wait !== undefined) return Number(wait) * 1000;
  return preferences.includes('respond-async') ? 0 : null;
}

function outcomeOf(result: unknown): Outcome {
  if (result instanceof RawJson) return { httpStatus: 200, body: result.text };
  if (result instanceof Reply) {
    return { httpStatus: result.httpStatus, body: JSON.stringify(result.body) };
  }
  if (result instanceof Response) throw new ApiError('internal', 'A stream cannot be repeated.');
  return { httpStatus: 200, body: JSON.stringify(result) };
}

function respond(outcome: Outcome): Response {
  return new Response(outcome.body, { status: outcome.httpStatus, headers: JSON_HEADERS });
}

/** A value given in body or query or both; different values are error 7 (decisions section 3). */
export function agree<T>(
  name: string,
  inBody: T | undefined,
  inQuery: T | undefined,
): T | undefined {
  if (inBody !== undefined && inQuery !== undefined && inBody !== inQuery) {
    throw rejected(
      name,
      'the body and the query give different values: give one, or the same twice',
    );
  }
  return inBody ?? inQuery;
}
