import type { Session } from './session.ts';

/** A signal that follows a grant until `stop` is called, which must happen: all requests of a client share it. */
export interface GrantSignal {
  readonly signal: AbortSignal;
  readonly stop: () => void;
}

/**
 * Aborts when the credential ends, and when its grant no longer holds what `requireGrant` asks for, with the error that
 * it throws: a change of a grant reaches open streams and waits (decisions section 7).
 */
export function grantSignal(session: Session, requireGrant: () => void): GrantSignal {
  const lost = new AbortController();
  const stop = session.onGrantChange(() => {
    try {
      requireGrant();
    } catch (error) {
      stop();
      lost.abort(error);
    }
  });
  return { signal: AbortSignal.any([session.ended, lost.signal]), stop };
}
