import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { elapsedMs } from '../lib/clock.ts';
import { ApiError } from '../model/errors.ts';
import type { Session } from '../wallet/session.ts';
import { allowedMethods, rejectMethod } from './allowed-methods.ts';
import type { AppEnv } from './env.ts';
import { IGNORED_FIELDS_HEADER, ignoredFieldsHeader } from './input/ignored-fields.ts';
import { type CallersShare, callersShare } from './limits/callers-share.ts';
import { limitHead } from './limits/request-head.ts';
import { streamForGet } from './limits/stream-for-get.ts';
import { authenticate } from './middleware/authenticate.ts';
import { errorResponse } from './middleware/errors.ts';
import { localGuard } from './middleware/guards.ts';
import { IdempotentRequests } from './middleware/idempotency.ts';
import { queryReader, validateBody } from './middleware/validate.ts';
import type { Parts } from './parts.ts';
import { requestMeters } from './request-metrics.ts';
import type { Route } from './route.ts';
import { runRoute } from './run-route.ts';

/** The largest accepted request body, in bytes (docs/decisions.md 16). */
const MAX_BODY_BYTES = 256 * 1024;

/**
 * How many request bodies one caller may be sending at the same time, so that slow uploads cannot occupy every
 * connection (docs/decisions.md 75). All callers without credentials count as one caller. The wallet's owner is not
 * limited.
 */
const MOST_BODIES = 64;

const limitBody = bodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw new ApiError('rejected', 'The body is larger than 256 KiB.', { httpStatus: 413 });
  },
});

interface AppOptions {
  readonly parts: Parts;
  readonly routes: readonly Route[];
  readonly allowedHosts: ReadonlySet<string>;
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
 * Builds the HTTP application from the list of routes. Only routes with a body pass through the middleware that reads
 * bodies, because each layer of middleware costs time.
 */
export function createApp(options: AppOptions): Hono<AppEnv> {
  const { parts, routes } = options;
  const app = new Hono<AppEnv>();
  const runner = {
    parts,
    stopping: options.stopping,
    idempotent: new IdempotentRequests(parts.store.idempotency, parts.log),
    waits: callersShare(options.mostWaits, 'waits and streams open'),
  };
  const refuse = errorResponse(parts.log, options.startId);
  app.onError(refuse);
  const meters = requestMeters(parts.metrics, elapsedMs);
  const guardSite = localGuard({ allowedHosts: options.allowedHosts });
  const guard = (request: Request) => {
    limitHead(request);
    guardSite(request);
  };
  const bodies = callersShare(MOST_BODIES, 'requests whose bodies are not complete');
  for (const route of routes) {
    const method = route.method.toUpperCase();
    const authorize = authenticate(route.access, {
      open: (credentials) => parts.wallets.opened(credentials) ?? parts.wallets.open(credentials),
      requireAuth: options.requireAuth,
      cookie: options.cookie,
    });
    const query = queryReader(route);
    const meter = meters.of(route);
    const admitted = async (
      context: Context<AppEnv>,
      answer: (session: Session | undefined, query: unknown) => Promise<Response>,
    ): Promise<Response> => {
      const startedMs = elapsedMs();
      let response: Response;
      if (route.movesMoney) context.set('nothingSent', true);
      try {
        guard(context.req.raw);
        if (context.req.raw.url.includes('?')) query.noteIgnored(context);
        const opened = authorize(context.req.raw.headers.get('authorization'));
        const session = opened instanceof Promise ? await opened : opened;
        response = await answer(session, query.read(context));
      } catch (error) {
        context.set('path', route.path);
        response = refuse(error, context);
      }
      nameIgnored(context, response);
      meter.answered(response.status, startedMs);
      return response;
    };
    const run = streamForGet(route, runRoute(route, runner));
    if (route.body === null) {
      app.on(method, route.path, (context) =>
        admitted(context, (session, query) => run(context, session, { body: undefined, query })),
      );
      continue;
    }
    app.on(
      method,
      route.path,
      (context, next) =>
        admitted(context, async (session, query) => {
          context.set('path', route.path);
          context.set('query', query);
          context.set('session', session);
          const bodyRead = session?.isOwner ? () => undefined : takeBody(context, session, bodies);
          context.set('bodyRead', bodyRead);
          try {
            await next();
          } finally {
            bodyRead();
          }
          return context.res;
        }),
      limitBody,
      validateBody(route.body),
      (context) =>
        run(context, context.get('session'), {
          body: context.get('body'),
          query: context.get('query'),
        }),
    );
  }
  const unmatched = (reject: (context: Context<AppEnv>) => never) => (context: Context<AppEnv>) => {
    const startedMs = elapsedMs();
    let response: Response;
    try {
      guard(context.req.raw);
      response = reject(context);
    } catch (error) {
      response = refuse(error, context);
    }
    meters.unmatched.answered(response.status, startedMs);
    return response;
  };
  for (const [path, methods] of allowedMethods(routes)) {
    app.all(
      path,
      unmatched((context) => rejectMethod(context, methods)),
    );
  }
  app.notFound(
    unmatched(({ req: { path, method } }) => {
      throw new ApiError(
        'notFound',
        `No such endpoint: ${method} ${path}. GET /v2/openapi.json lists them.`,
      );
    }),
  );
  return app;
}

function nameIgnored(context: Context<AppEnv>, response: Response): void {
  const header = ignoredFieldsHeader(context.get('ignored') ?? []);
  if (header !== '') response.headers.set(IGNORED_FIELDS_HEADER, header);
}

function takeBody(
  context: Context<AppEnv>,
  session: Session | undefined,
  bodies: CallersShare,
): () => void {
  try {
    return bodies.take(session?.caller.id ?? 'nobody');
  } catch (error) {
    // The body of this request is never read, so the connection cannot carry another request.
    context.header('connection', 'close');
    throw error;
  }
}
