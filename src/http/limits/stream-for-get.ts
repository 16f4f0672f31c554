import { isReadAsItComes, rejectMethod } from '../allowed-methods.ts';
import type { Route } from '../route.ts';
import type { RunRoute } from '../run-route.ts';

/**
 * Lets a route that answers with a stream run for GET only. HEAD, which is GET without a body (RFC 9110, section
 * 9.3.2), would open a stream that is never read and never ends, so it gets error 7 with status 405. Other routes
 * accept HEAD.
 */
export function streamForGet(route: Route, run: RunRoute): RunRoute {
  if (!isReadAsItComes(route)) return run;
  return async (context, session, input) =>
    context.req.raw.method === 'GET'
      ? run(context, session, input)
      : rejectMethod(context, ['GET']);
}
