import { isStream, rejectMethod } from '../allowed-methods.ts';
import type { Route } from '../route.ts';
import type { RunRoute } from '../run-route.ts';

/**
 * Runs a route that answers with a stream for GET alone. HEAD is GET without its body (RFC 9110, section 9.3.2): the
 * stream would be opened, never read and never ended. It is error 7 with status 405; other routes answer HEAD.
 */
export function streamForGet(route: Route, run: RunRoute): RunRoute {
  if (!isStream(route)) return run;
  return async (context, session, input) =>
    context.req.raw.method === 'GET'
      ? run(context, session, input)
      : rejectMethod(context, ['GET']);
}
