import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ApiError } from '../model/errors.ts';
import type { AppEnv } from './env.ts';
import { authenticate } from './middleware/authenticate.ts';
import { errorResponse } from './middleware/errors.ts';
import { localGuard } from './middleware/guards.ts';
import { IdempotentRequests } from './middleware/idempotency.ts';
import { validateBody, validateQuery } from './middleware/validate.ts';
import type { Parts } from './parts.ts';
import type { Route } from './route.ts';
import { runRoute } from './run-route.ts';

/** Most bytes of a request body (decisions section 3). */
const MAX_BODY_BYTES = 256 * 1024;

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

/** Builds the HTTP application from the list of routes; the one place where they meet the middleware. */
export function createApp(options: AppOptions): Hono<AppEnv> {
  const { parts, routes } = options;
  const app = new Hono<AppEnv>();
  const runner = {
    parts,
    stopping: options.stopping,
    idempotent: new IdempotentRequests(parts.store.idempotency),
  };
  let requests = 0;
  app.onError(errorResponse(parts.log));
  const guard = localGuard({ allowedHosts: options.allowedHosts });
  // One layer for what every request passes: each costs time even where it does little.
  app.use((context, next) => {
    context.set('requestId', `${options.startId}-${++requests}`);
    guard(context.req.raw);
    return next();
  });
  const limitBody = bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: () => {
      throw new ApiError('rejected', 'The body is larger than 256 KiB.', { httpStatus: 413 });
    },
  });
  for (const route of routes) {
    app.on(
      route.method.toUpperCase(),
      route.path,
      authenticate(route.access, {
        open: (credentials) => parts.wallets.open(credentials),
        requireAuth: options.requireAuth && route.path.startsWith('/v2/node/'),
      }),
      ...(route.query ? [validateQuery(route.query)] : []),
      ...(route.body ? [limitBody, validateBody(route.body)] : []),
      runRoute(route, runner),
    );
  }
  const paths = new Set<string>(routes.map((route) => route.path));
  app.notFound((context) => {
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
