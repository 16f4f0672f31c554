import type { Session } from '../../wallet/session.ts';
import type { RouteAccess } from '../route.ts';
import { requireAccess } from './authenticate.ts';

/**
 * Aborts when the session no longer holds what a route asks for, with the error 108 to return, and when the credential
 * ends: a change of a grant reaches open streams and waits (decisions section 7).
 */
export function grantSignal(session: Session, access: RouteAccess): AbortSignal {
  const lost = new AbortController();
  const look = () => {
    try {
      requireAccess(session, access);
    } catch (error) {
      stop();
      lost.abort(error);
    }
  };
  const stop = session.onGrantChange(look);
  return AbortSignal.any([session.ended, lost.signal]);
}
