import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ApiError } from '../model/errors.ts';
import type { AppEnv } from './env.ts';
import { authenticate } from './middleware/authenticate.ts';
import { errorResponse } from './middleware/errors.ts';
import { localGuard } from './middleware/guards.ts';
import { IdempotentRequests } from './middleware/idempotency.ts';
import { validateBody } from './middleware/validate.ts';
import type { Parts } from './parts.ts';
import type { Route } from './route.ts';
import { runRoute } from './run-route.ts';

/** Most bytes of a request body (decisions section 3). */
const MAX_BODY_BYTES = 256 * 1024;

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
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** Distinguishes the requests of this start from those of others in the log. */
  readonly startId: string;
}

/**
 * Builds the HTTP application from the list of routes. A request without a body passes through one function; only
 * those with one need the layers that read it, since every layer costs time.
 */
export function createApp(options: AppOptions): Hono<AppEnv> {
  const { parts, routes } = options;
  const app = new Hono<AppEnv>();
  const runner = {
    parts,
    stopping: options.stopping,
    idempotent: new IdempotentRequests(parts.store.idempotency),
  };
  app.onError(errorResponse(parts.log, options.startId));
  const guard = localGuard({ allowedHosts: options.allowedHosts });
  for (const route of routes) {
    const method = route.method.toUpperCase();
    const authorize = authenticate(route.access, {
      open: (credentials) => parts.wallets.open(credentials),
      requireAuth: options.requireAuth && route.path.startsWith('/v2/node/'),
    });
    const admit = ({ req }: Context<AppEnv>) => {
      guard(req.raw);
      return authorize(req.raw.headers.get('authorization'));
    };
    const run = runRoute(route, runner);
    if (route.body === null) {
      app.on(method, route.path, async (context) => run(context, await admit(context), undefined));
      continue;
    }
    app.on(
      method,
      route.path,
      async (context, next) => {
        context.set('session', await admit(context));
        return next();
      },
      limitBody,
      validateBody(route.body),
      (context) => run(context, context.get('session'), context.get('body')),
    );
  }
  const paths = new Set<string>(routes.map((route) => route.path));
  app.notFound((context) => {
    guard(context.req.raw);
    const { path, method } = context.req;
    throw paths.has(path)
      ? new ApiError('rejected', `${path} does not answer ${method}.`, { httpStatus: 405 })
      : new ApiError(
          'notFound',
          `No such endpoint: ${method} ${path}. GET /v2/openapi.json lists them.`,
        );
  });
  return app;
}
