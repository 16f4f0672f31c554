import type { Session } from './session.ts';

/**
 * Aborts when the credential ends, and when its grant no longer holds what `requireGrant` asks for, with the error that
 * it throws: a change of a grant reaches open streams and waits (decisions section 7).
 */
export function grantSignal(session: Session, requireGrant: () => void): AbortSignal {
  const lost = new AbortController();
  const stop = session.onGrantChange(() => {
    try {
      requireGrant();
    } catch (error) {
      stop();
      lost.abort(error);
    }
  });
  return AbortSignal.any([session.ended, lost.signal]);
}
