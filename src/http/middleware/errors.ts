import type { Context } from 'hono';
import type { Log } from '../../lib/log.ts';
import { type ApiError, ERRORS, internalUnlessApi, isApiError } from '../../model/errors.ts';
import type { AppEnv } from '../env.ts';

/** The value of `Retry-After`, in seconds, on answers with error 8. */
const RETRY_AFTER_SECS = '2';

/** The status that metrics count for a request whose client went away. It is never sent. */
const CLIENT_GONE = 499;

/** Writes the status and the JSON body of the answer to an error. */
export type ErrorForm = (error: ApiError) => {
  readonly httpStatus: number;
  readonly body: unknown;
};

/** The form of errors of the API (docs/decisions.md 10). */
export const apiForm: ErrorForm = (error) => ({
  httpStatus: error.httpStatus,
  body: error.body(),
});

/**
 * Turns every error into an answer, in this one place (docs/decisions.md 10). An error that is not in the table of
 * errors is error 6. The answer's `x-request-id` is the `request_id` of the log line.
 */
export function errorResponse(
  log: Log,
  startId: string,
): (error: unknown, context: Context<AppEnv>, form?: ErrorForm) => Response {
  let errors = 0;
  return (error, context, form = apiForm) => {
    if (isClientGone(error, context.req.raw.signal)) {
      return new Response(null, { status: CLIENT_GONE });
    }
    const known = withSent(internalUnlessApi(error), context);
    const request_id = `${startId}-${++errors}`;
    // The path of an unknown endpoint is not logged, because it may contain anything, even a secret.
    const path = context.get('path') ?? null;
    const fields = { request_id, method: context.req.method, path };
    if (known.kind === 'internal') log.error('Internal error.', { ...fields, error });
    else
      log.info('Request answered with an error.', {
        ...fields,
        code: known.body().code,
        cause: known.cause,
      });
    context.header('x-request-id', request_id);
    if (known.httpStatus === ERRORS.unauthenticated.httpStatus) {
      context.header('www-authenticate', 'Bearer');
    }
    if (known.kind === 'overCapacity') context.header('retry-after', RETRY_AFTER_SECS);
    const { httpStatus, body } = form(known);
    return context.json(body as object, httpStatus as 400);
  };
}

/** Before its handler ran, a request that moves money has moved none; an earlier one with its key may have. */
function withSent(error: ApiError, context: Context<AppEnv>): ApiError {
  const sent = context.get('sentBefore');
  return sent === undefined ? error : error.with({ sent });
}

/**
 * Whether the client went away and the error says only that. The error of a payment then has the abort as its cause,
 * because it also carries `data.sent`.
 */
function isClientGone(error: unknown, { aborted, reason }: AbortSignal): boolean {
  return aborted && (!isApiError(error) || error.cause === reason);
}
