import type { Context } from 'hono';
import { ApiError } from '../model/errors.ts';
import type { Route } from './route.ts';

/** The methods of each path. HEAD is GET without its body, except for a stream, which nobody would read. */
export function allowedMethods(routes: readonly Route[]): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, string[]>();
  for (const route of routes) {
    const own = route.method.toUpperCase();
    const also = own === 'GET' && !isStream(route) ? ['HEAD'] : [];
    methods.set(route.path, [...(methods.get(route.path) ?? []), own, ...also]);
  }
  return methods;
}

/** Whether a good answer never ends by itself. */
export function isStream(route: Route): boolean {
  return route.mediaType === 'text/event-stream';
}

/** Throws error 7 with status 405, and names the methods of the path in `Allow` (RFC 9110, section 15.5.6). */
export function rejectMethod(context: Context, allowed: readonly string[]): never {
  const methods = allowed.join(', ');
  context.header('allow', methods);
  const { path, method } = context.req;
  throw new ApiError('rejected', `${path} does not answer ${method}: use ${methods}.`, {
    httpStatus: 405,
  });
}
