import { isReadAsItComes, rejectMethod } from '../allowed-methods.ts';
import type { Route } from '../route.ts';
import type { RunRoute } from '../run-route.ts';

/**
 * Lets a route run for GET alone where HEAD, which is GET without a body (RFC 9110, section 9.3.2), would do harm. It
 * would open a stream that is never read and never ends, so it gets error 7 with status 405. A route for payers would
 * make an invoice that is not shown, so it makes none. Other routes accept HEAD.
 */
export function getAlone(route: Route, run: RunRoute): RunRoute {
  if (!isReadAsItComes(route) && !route.answersAtDomain) return run;
  return async (context, session, input) => {
    if (context.req.raw.method === 'GET') return run(context, session, input);
    if (isReadAsItComes(route)) rejectMethod(context, ['GET']);
    return new Response(null, { headers: { 'content-type': 'application/json' } });
  };
}
