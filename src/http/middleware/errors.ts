import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { Log } from '../../lib/log.ts';
import { ApiError, ERRORS, internalUnlessApi } from '../../model/errors.ts';
import type { AppEnv } from '../env.ts';

/** Seconds that a client turned away for capacity should wait. */
const RETRY_AFTER_SECS = '2';

/** Status for the log of a request whose client went away; nobody receives it. */
const CLIENT_GONE = 499;

/**
 * The one place where an error becomes an answer (decisions section 2). What is not documented is error 6. The answer's
 * `x-request-id` is the `request_id` under which the log tells more.
 */
export function errorResponse(
  log: Log,
  startId: string,
): (error: unknown, context: Context<AppEnv>) => Response {
  let refused = 0;
  return (error, context) => {
    if (context.req.raw.signal.aborted && !(error instanceof ApiError)) {
      return new Response(null, { status: CLIENT_GONE });
    }
    const known = withSent(asApiError(error), context);
    const request_id = `${startId}-${++refused}`;
    // Where no route was meant the path may hold anything, even a secret that was put there by mistake.
    const path = context.get('path') ?? null;
    const fields = { request_id, method: context.req.method, path };
    if (known.kind === 'internal') log.error('Internal error.', { ...fields, error });
    else log.info('Request refused.', { ...fields, code: known.body().code, cause: known.cause });
    context.header('x-request-id', request_id);
    if (known.httpStatus === ERRORS.unauthenticated.httpStatus) {
      context.header('www-authenticate', 'Bearer');
    }
    if (known.kind === 'overCapacity') context.header('retry-after', RETRY_AFTER_SECS);
    return context.json(known.body(), known.httpStatus as 400);
  };
}

/** Before its handler ran, a request that moves money has moved none (docs/decisions.md 12). */
function withSent(error: ApiError, context: Context<AppEnv>): ApiError {
  return context.get('nothingSent') ? error.with({ sent: 'no' }) : error;
}

function asApiError(error: unknown): ApiError {
  if (error instanceof HTTPException && error.status < 500) {
    return new ApiError('rejected', error.message, { httpStatus: error.status, cause: error });
  }
  return internalUnlessApi(error);
}
