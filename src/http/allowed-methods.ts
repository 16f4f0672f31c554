import type { Context } from 'hono';
import { ApiError } from '../model/errors.ts';
import type { Route } from './route.ts';

/**
 * Returns the allowed methods of each path. A path with GET also has HEAD, except when GET returns a stream, because a
 * HEAD request would open the stream and never read it.
 */
export function allowedMethods(routes: readonly Route[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const own = route.method.toUpperCase();
    const also = own === 'GET' && !isReadAsItComes(route) ? ['HEAD'] : [];
    methods.set(route.path, [...(methods.get(route.path) ?? []), own, ...also]);
  }
  return methods;
}

/** Returns whether a successful answer of the route is an event stream, which stays open until one side ends it. */
export function isStream(route: Route): boolean {
  return route.mediaType === 'text/event-stream';
}

/** Returns whether a successful answer of the route is made while it is read: a stream of events or of rows. */
export function isReadAsItComes(route: Route): boolean {
  return isStream(route) || route.otherMediaType !== undefined;
}

/** Throws error 7 with status 405. The header `Allow` lists the methods of the path (RFC 9110, section 15.5.6). */
export function rejectMethod(context: Context, allowed: readonly string[]): never {
  const methods = allowed.join(', ');
  context.header('allow', methods);
  const { path, method } = context.req;
  throw new ApiError('rejected', `${path} does not answer ${method}: use ${methods}.`, {
    httpStatus: 405,
  });
}
