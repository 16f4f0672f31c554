import type { Context } from 'hono';
import { ApiError, internalUnlessApi, isApiError, rejected } from '../model/errors.ts';
import { isActiveClient } from '../wallet/clients/clients.ts';
import { grantSignal } from '../wallet/clients/grant-signal.ts';
import { type EffectNames, keyedNames, randomNames } from '../wallet/session/effect-names.ts';
import {
  isMadeBy,
  paymentNotFound,
  requireWholeSight,
  seesOnlyOwn,
} from '../wallet/session/own-payments.ts';
import { requirePermission, type Session } from '../wallet/session/session.ts';
import { isStream } from './allowed-methods.ts';
import { resumePayment } from './answer-payment.ts';
import type { AppEnv } from './env.ts';
import { comparable, comparedBefore } from './input-comparison.ts';
import type { CallersShare } from './limits/callers-share.ts';
import { IDLE_SECS } from './limits/idle.ts';
import { sourceOf } from './limits/source-address.ts';
import { accessCheck } from './middleware/authenticate.ts';
import {
  fingerprint,
  type IdempotentRequests,
  type Outcome,
  readIdempotencyKey,
} from './middleware/idempotency.ts';
import type { Parts } from './parts.ts';
import { RawJson, Reply, type RequestContext, type Route, type SessionContext } from './route.ts';
import { requireSightOf } from './sight-of-outcome.ts';

/** The parts of the server that every route runs with. */
export interface Runner {
  readonly parts: Parts;
  /** Aborts when the server stops. Its reason is the error 8 that ends waits. */
  readonly stopping: AbortSignal;
  readonly idempotent: IdempotentRequests;
  /** Limits the waits and streams of each client. */
  readonly waits: CallersShare;
  /** The proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: ReadonlySet<string>;
  /** Serves a request as the application does. */
  readonly answer: (request: Request, env: AppEnv['Bindings']) => Promise<Response>;
}

/** One shared object, because otherwise headers would be built anew for each answer. */
const JSON_HEADERS = new Headers({ 'content-type': 'application/json' });

const NOTHING = (): void => undefined;

/** Headers of a request that belong to it alone, and not to what is asked in its caller's name. */
const OF_ONE_REQUEST = ['content-length', 'idempotency-key', 'last-event-id', 'prefer'];

/** Runs a route for a request whose session is open and whose input is parsed. */
export type RunRoute = (
  context: Context<AppEnv>,
  session: Session | undefined,
  input: RouteInput,
) => Promise<Response>;

interface RouteInput {
  readonly body: unknown;
  readonly query: unknown;
}

/** Returns a function that calls the route's handler, with an Idempotency-Key at most once per key. */
export function runRoute(route: Route, runner: Runner): RunRoute {
  const run = handled(route, runner);
  return async (context, session, input) => {
    const { env, req } = context;
    // The limit is for callers that are slow, while work may take as long as a payment or a first sync.
    env?.timeout?.(req.raw, 0);
    try {
      return await run(context, session, input);
    } finally {
      // A stream ends its connection itself.
      if (!isStream(route)) env?.timeout?.(req.raw, IDLE_SECS);
    }
  };
}

function handled(route: Route, runner: Runner): RunRoute {
  return async (context, session, input) => {
    if (session && seesOnlyOwn(session)) await requireOwnSight(route, session, input);
    const key = route.takesKey ? readIdempotencyKey(context.req.header('idempotency-key')) : null;
    if (key === null && route.needsKey) throw rejected('Idempotency-Key', 'is required');
    if (route.movesMoney) context.set('sentBefore', undefined);
    if (key === null || session === undefined) {
      const request = new HandledRequest(runner, route, context, session);
      try {
        return answerOf(request, await route.handler(request, input));
      } catch (error) {
        request.ended();
        throw telling(route, error, 'no');
      }
    }
    try {
      return jsonResponse(await runOnce(route, runner, { context, session, key, input }));
    } catch (error) {
      // An earlier request with the key may have sent something.
      throw telling(route, error, 'unknown');
    }
  };
}

/**
 * Throws error 108 for a route of the whole wallet, and 107 for the index of a payment that the caller did not make,
 * whatever the route does with it (docs/decisions.md 195).
 */
async function requireOwnSight(
  { ofWallet }: Route,
  session: Session,
  { body, query }: RouteInput,
): Promise<void> {
  if (ofWallet) requireWholeSight(session);
  const { index } = { ...Object(query), ...Object(body) };
  if (index !== undefined && !(await isMadeBy(session, index))) throw paymentNotFound();
}

/**
 * Returns the error with what may have been sent, where money moves and the error does not say it
 * (docs/decisions.md 12). An unexpected error proves nothing, so there it is unknown.
 */
function telling(route: Route, error: unknown, sent: 'no' | 'unknown'): unknown {
  if (!route.movesMoney) return error;
  return internalUnlessApi(error).with({ sent: isApiError(error) ? sent : 'unknown' });
}

function answerOf(request: HandledRequest, result: unknown): Response {
  if (result instanceof Response) return result;
  request.ended();
  return jsonResponse(outcomeOf(result));
}

interface KeyedRequest {
  readonly context: Context<AppEnv>;
  readonly session: Session;
  readonly key: string;
  readonly input: RouteInput;
}

async function runOnce(
  route: Route,
  runner: Runner,
  { context, session, key, input }: KeyedRequest,
): Promise<Outcome> {
  const { store, clock } = runner.parts;
  const scope = { walletId: session.userPk, caller: session.caller.id, key };
  const requestWith = (names: EffectNames) =>
    new HandledRequest(runner, route, context, session, { key, names });
  const { secretOf, permissionOf, paymentStrings, queryIsNew } = route;
  const printOf = (inputs: readonly unknown[]) =>
    fingerprint(route.method, route.path, ...inputs.map((value) => value ?? null));
  const hasQuery = !queryIsNew || Object.keys(input.query ?? {}).length > 0;
  const query = hasQuery ? input.query : null;
  const inputs = [input.body, query];
  const sent = route.hasBody ? await context.req.text() : '';
  return runner.idempotent.run({
    scope,
    fingerprint: printOf(
      paymentStrings ? inputs.map((one) => comparable(paymentStrings, one)) : inputs,
    ),
    earlierFingerprint: printOf([comparedBefore(route.body, input.body, sent), query]),
    nowMs: clock.now(),
    respondAfterMs: readPrefer(context.req.header('prefer')),
    endsWait: route.endsWait === true,
    sealKey: session.caller.sealKey,
    subjectOf: (body) => (secretOf ? secretOf(JSON.parse(body)) : null),
    isSubjectActive: (clientPk) => isActiveClient(session, clientPk),
    requireGrant: (body) => {
      if (permissionOf) requirePermission(session, permissionOf(JSON.parse(body)));
    },
    requireSight: (outcome) => requireSightOf(outcome, session, route),
    ready: () => session.resolver.ready(),
    execute: async (effect) => {
      const names = keyedNames(scope, effect, {
        identity: store.identity,
        sealKey: session.caller.sealKey,
        keys: store.idempotency,
      });
      const request = requestWith(names);
      try {
        return outcomeOf(await route.handler(request, input));
      } catch (error) {
        // What an earlier run has named may have taken effect.
        throw telling(route, error, effect === null ? 'no' : 'unknown');
      } finally {
        request.ended();
      }
    },
    resume: async (index) => {
      const request = requestWith(randomNames);
      const payment = resumePayment(request as SessionContext, index);
      const answer = await payment.finally(() => request.ended());
      return answer === null ? null : outcomeOf(answer);
    },
  });
}

/** Every request creates one of these, so what handlers seldom use is computed only on demand. */
class HandledRequest implements RequestContext {
  readonly parts: Parts;
  readonly session: Session | undefined;
  readonly idempotencyKey: string | null;
  readonly names: EffectNames;
  readonly #runner: Runner;
  readonly #route: Route;
  readonly #context: Context<AppEnv>;
  #signal: AbortSignal | null = null;
  #release = NOTHING;
  #stopGrant = NOTHING;

  constructor(
    runner: Runner,
    route: Route,
    context: Context<AppEnv>,
    session: Session | undefined,
    keyed: { readonly key: string; readonly names: EffectNames } | null = null,
  ) {
    this.parts = runner.parts;
    this.session = session;
    this.idempotencyKey = keyed?.key ?? null;
    this.names = keyed?.names ?? randomNames;
    this.#runner = runner;
    this.#route = route;
    this.#context = context;
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal;
    const { session } = this;
    if (session && !session.isOwner) this.#release = this.#runner.waits.take(session.caller.id);
    // With a key the request continues when its client goes away, because a repeat needs the outcome.
    const gone = this.idempotencyKey === null ? [this.#context.req.raw.signal] : [];
    const requireAccess = accessCheck(this.#route.access);
    // What was begun with the sight of all payments goes on with no less.
    const sawAll = session !== undefined && !seesOnlyOwn(session);
    const requireGrant = (one: Session) => {
      requireAccess(one);
      if (sawAll) requireWholeSight(one);
    };
    const grant = session && grantSignal(session, () => requireGrant(session));
    this.#stopGrant = grant?.stop ?? this.#stopGrant;
    const granted = grant ? [grant.signal] : [];
    const consoleEnded = this.#context.get('consoleEnded');
    const signedIn = consoleEnded ? [consoleEnded] : [];
    this.#signal = AbortSignal.any([...gone, ...granted, ...signedIn, this.#runner.stopping]);
    return this.#signal;
  }

  get respondAfterMs(): number | null {
    return readPrefer(this.#context.req.header('prefer'));
  }

  get lastEventId(): string | null {
    return this.#context.req.header('last-event-id') ?? null;
  }

  get headers(): Headers {
    return this.#context.req.raw.headers;
  }

  get source(): string {
    return sourceOf(this.#context, this.#runner.trustedProxies);
  }

  ended(): void {
    this.#release();
    this.#stopGrant();
  }

  closeUnread(): void {
    this.#context.env?.timeout?.(this.#context.req.raw, 1);
  }

  call(path: string, init: RequestInit): Promise<Response> {
    const { env, req } = this.#context;
    const headers = new Headers(req.raw.headers);
    for (const name of OF_ONE_REQUEST) headers.delete(name);
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    const { signal } = req.raw;
    const request = new Request(new URL(path, req.url).href, { signal, ...init, headers });
    return this.#runner.answer(request, {
      ...env,
      peer: () => env?.peer?.(req.raw) ?? null,
      timeout: (_, seconds) => env?.timeout?.(req.raw, seconds),
    });
  }

  pathParameter(name: string): string {
    return this.#context.req.param(name) ?? '';
  }
}

/** Returns the patience that `Prefer` (RFC 7240) asks for, in milliseconds, 0 for `respond-async`; null for none. */
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

function jsonResponse(outcome: Outcome): Response {
  return new Response(outcome.body, { status: outcome.httpStatus, headers: JSON_HEADERS });
}
