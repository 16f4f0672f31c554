import { type Context, Hono } from 'hono';
import { elapsedMs } from '../lib/clock.ts';
import { ApiError } from '../model/errors.ts';
import { allowedMethods, rejectMethod } from './allowed-methods.ts';
import type { AppEnv } from './env.ts';
import { IGNORED_FIELDS_HEADER, ignoredFieldsHeader } from './input/ignored-fields.ts';
import { callersShare } from './limits/callers-share.ts';
import { limitHead } from './limits/request-head.ts';
import { streamForGet } from './limits/stream-for-get.ts';
import {
  effectForGet,
  isAtDomain,
  openToPages,
  payerForm,
  preflight,
} from './middleware/address-domain.ts';
import { authenticate } from './middleware/authenticate.ts';
import { apiForm, errorResponse } from './middleware/errors.ts';
import { localGuard } from './middleware/guards.ts';
import { IdempotentRequests } from './middleware/idempotency.ts';
import { bodyReader } from './middleware/read-body.ts';
import { queryReader } from './middleware/read-query.ts';
import type { Parts } from './parts.ts';
import { requestMeters } from './request-metrics.ts';
import type { Route } from './route.ts';
import { runRoute } from './run-route.ts';

/**
 * How many request bodies one caller may be sending at the same time, so that slow uploads cannot occupy every
 * connection (docs/decisions.md 75). All callers without credentials count as one caller. The wallet's owner is not
 * limited.
 */
const MOST_BODIES = 64;

/** Handles a request: returns its answer, or throws an error that becomes the answer. */
type Answer = (context: Context<AppEnv>) => Promise<Response>;

interface AppOptions {
  readonly parts: Parts;
  readonly routes: readonly Route[];
  readonly allowedHosts: ReadonlySet<string>;
  /** The Host headers at which payers reach names; empty while no domain is configured (docs/decisions.md 100). */
  readonly domainHosts: ReadonlySet<string>;
  /** The proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: ReadonlySet<string>;
  readonly requireAuth: boolean;
  /** How many waits and streams one client may have open at the same time. The wallet's owner is not limited. */
  readonly mostWaits: number;
  /** The token in the cookie file; null when there is no cookie file. */
  readonly cookie: string | null;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** A prefix of the request ids in the log, different at each start of the program. */
  readonly startId: string;
}

/**
 * Builds the HTTP application from the list of routes. Every request passes the same layers in the same order: the
 * guards, the credentials, the query, the body, and the route's handler.
 */
export function createApp(options: AppOptions): Hono<AppEnv> {
  const { parts, routes } = options;
  const app = new Hono<AppEnv>();
  const runner = {
    parts,
    stopping: options.stopping,
    idempotent: new IdempotentRequests(parts.store.idempotency, parts.log),
    waits: callersShare(options.mostWaits, 'waits and streams open'),
    trustedProxies: options.trustedProxies,
  };
  const answerError = errorResponse(parts.log, options.startId);
  app.onError(answerError);
  const meters = requestMeters(parts.metrics, elapsedMs);
  const guardSite = localGuard({ allowedHosts: options.allowedHosts });
  const bodies = callersShare(MOST_BODIES, 'requests whose bodies are not complete');

  /** Returns a handler that checks the request head, calls `answer`, turns an error into an answer, and counts it. */
  const guarded = (route: Route | null, answer: Answer): Answer => {
    const meter = route ? meters.of(route) : meters.unmatched;
    return async (context) => {
      const startedMs = elapsedMs();
      const atDomain =
        route?.answersAtDomain === true && isAtDomain(context.req.raw, options.domainHosts);
      let response: Response;
      if (route?.movesMoney) context.set('nothingSent', true);
      try {
        limitHead(context.req.raw);
        if (!atDomain) guardSite(context.req.raw);
        response = await answer(context);
      } catch (error) {
        context.set('path', route?.path);
        response = answerError(error, context, route?.answersAtDomain ? payerForm : apiForm);
      }
      nameIgnored(context, response);
      if (atDomain) openToPages(response);
      meter.answered(response.status, startedMs);
      return response;
    };
  };

  for (const route of routes) {
    const authorize = authenticate(route.access, {
      open: (credentials) => parts.wallets.open(credentials),
      requireAuth: options.requireAuth,
      cookie: options.cookie,
      console: parts.console,
    });
    const readQuery = queryReader(route);
    const readBody = route.hasBody ? bodyReader(route, bodies) : null;
    const run = effectForGet(route, streamForGet(route, runRoute(route, runner)));
    if (route.answersAtDomain) {
      const answerPreflight = guarded(route, async () => preflight());
      // Elsewhere OPTIONS is a method like any other that the path does not have.
      app.on('OPTIONS', route.path, (context, next) =>
        isAtDomain(context.req.raw, options.domainHosts) ? answerPreflight(context) : next(),
      );
    }
    app.on(
      route.method.toUpperCase(),
      route.path,
      guarded(route, async (context) => {
        // Ignored parameters are named on every answer, also where the credentials are rejected.
        const parseQuery = readQuery(context);
        const { session, consoleEnded } = await authorize(context.req.raw.headers);
        if (consoleEnded) context.set('consoleEnded', consoleEnded);
        const query = parseQuery();
        const body = readBody ? await readBody(context, session) : undefined;
        // The session may have ended while the body was on its way.
        consoleEnded?.throwIfAborted();
        return run(context, session, { body, query });
      }),
    );
  }
  for (const [path, methods] of allowedMethods(routes)) {
    app.all(
      path,
      guarded(null, async (context) => rejectMethod(context, methods)),
    );
  }
  const pages = new Map<string, string>(
    routes.filter(isPage).map(({ path }) => [`${path}/`, path]),
  );
  app.notFound(
    guarded(null, async ({ req: { path, method } }) => {
      const page = pages.get(path);
      if (page !== undefined && (method === 'GET' || method === 'HEAD'))
        return new Response(null, { status: 302, headers: { location: page } });
      throw new ApiError(
        'notFound',
        `No such endpoint: ${method} ${path}. GET /v2/openapi.json lists them.`,
      );
    }),
  );
  return app;
}

/** Whether people open a route in a browser; they may write a slash at its end. */
function isPage({ mediaType }: Route): boolean {
  return mediaType?.startsWith('text/html') === true;
}

function nameIgnored(context: Context<AppEnv>, response: Response): void {
  const ignored = context.get('ignored');
  if (ignored === undefined) return;
  const header = ignoredFieldsHeader(ignored);
  if (header !== '') response.headers.set(IGNORED_FIELDS_HEADER, header);
}
