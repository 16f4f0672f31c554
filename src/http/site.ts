import { type Context, Hono } from 'hono';
import { METHOD_NAME_ALL } from 'hono/router';
import { TrieRouter } from 'hono/router/trie-router';
import { ENDING_HEADER } from '../fleet/headers.ts';
import { elapsedMs } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { ApiError, isApiError } from '../model/errors.ts';
import { allowedMethods, rejectMethod } from './allowed-methods.ts';
import type { AppEnv } from './env.ts';
import { limitHead, rejectTrailer } from './limits/request-head.ts';
import { isAtDomain, openToPages, payerForm, preflight } from './middleware/address-domain.ts';
import { apiForm, errorResponse } from './middleware/errors.ts';
import { localGuard } from './middleware/guards.ts';
import { usableKey } from './middleware/idempotency.ts';
import type { Route } from './route.ts';

/** Handles a request: returns its answer, or throws an error that becomes the answer. */
export type Answer = (context: Context<AppEnv>) => Promise<Response>;

/** Which requests reach a server at all, and by which names. */
export interface SiteOptions {
  readonly routes: readonly Route[];
  readonly allowedHosts: ReadonlySet<string>;
  /** The Host headers at which payers reach names; empty while no domain is configured (docs/decisions.md 100). */
  readonly domainHosts: ReadonlySet<string>;
  readonly log: Log;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** A prefix of the request ids in the log, different at each start of the program. */
  readonly startId: string;
}

type Answered = (context: Context<AppEnv>, response: Response, startedMs: number) => void;

interface SiteAnswers {
  readonly answerOf: (route: Route) => Answer;
  /**
   * Returns what is called with each answer of a route just before it is sent, and with the start of its request by the
   * monotonic clock. Null stands for requests that no route takes.
   */
  readonly answeredOf: (route: Route | null) => Answered;
}

/** Builds the server of routes: checks heads, turns every error into an answer (docs/decisions.md 10 and 70). */
export function openSite(options: SiteOptions, answers: SiteAnswers): Hono<AppEnv> {
  const { routes, domainHosts, stopping } = options;
  // Hono's own choice makes one expression of all paths at the first request, which took a tenth of a start.
  const app = new Hono<AppEnv>({ router: new TrieRouter() });
  const answerError = errorResponse(options.log, options.startId);
  app.onError(answerError);
  const guardSite = localGuard({ allowedHosts: options.allowedHosts });

  /** Returns a handler that checks the request head, calls `answer`, and turns an error into an answer. */
  const guarded = (route: Route | null, answer: Answer): Answer => {
    const answered = answers.answeredOf(route);
    return async (context) => {
      const startedMs = elapsedMs();
      const { raw } = context.req;
      const namesDomain = isAtDomain(raw, domainHosts);
      const atDomain = route?.answersAtDomain === true && namesDomain;
      // The sidecar that passed a request on has checked it by its own names (docs/decisions.md 139).
      const isChecked = context.env?.passedOn !== undefined && !namesDomain;
      let response: Response;
      if (route?.movesMoney) context.set('sentBefore', sentBefore(route, raw.headers));
      try {
        limitHead(raw);
        rejectTrailer(raw);
        if (!atDomain && !isChecked) guardSite(raw);
        response = await answer(context);
      } catch (error) {
        context.set('path', route?.path);
        response = answerError(error, context, route?.answersAtDomain ? payerForm : apiForm);
        if (stopping.aborted && context.env?.passedOn && isApiError(error, 'overCapacity')) {
          response.headers.set(ENDING_HEADER, 'stopping');
        }
      }
      if (atDomain) openToPages(response);
      // What is not said to be kept may hold money or credentials (docs/decisions.md 166).
      if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store');
      answered(context, response, startedMs);
      return response;
    };
  };

  for (const route of routes) {
    if (route.answersAtDomain) {
      const answerPreflight = guarded(route, async () => preflight());
      // Elsewhere OPTIONS is a method like any other that the path does not have.
      app.on('OPTIONS', route.path, (context, next) =>
        isAtDomain(context.req.raw, domainHosts) ? answerPreflight(context) : next(),
      );
    }
    app.on(route.method.toUpperCase(), route.path, guarded(route, answers.answerOf(route)));
  }
  // The paths are a router of their own: with two handlers for its path, a request would take Hono's slower way.
  const known = new TrieRouter<readonly string[]>();
  for (const [path, methods] of allowedMethods(routes)) known.add(METHOD_NAME_ALL, path, methods);
  const pages = new Map<string, string>(
    routes.filter(isPage).map(({ path }) => [`${path}/`, path]),
  );
  app.notFound(
    guarded(null, async (context) => {
      const { path, method } = context.req;
      const [[methods]] = known.match(METHOD_NAME_ALL, path);
      if (methods) rejectMethod(context, methods[0]);
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

/**
 * What a request may have sent before it is understood: whose a key is, and what it was used for, is not known then
 * (docs/decisions.md 174).
 */
function sentBefore(route: Route, headers: Headers): 'no' | 'unknown' {
  return usableKey(route, headers) === null ? 'no' : 'unknown';
}

function isPage({ mediaType }: Route): boolean {
  return mediaType?.startsWith('text/html') === true;
}
