import type { Session } from '../session/session.ts';

/**
 * A signal that aborts when a grant is lost. `stop` must be called at the end, because it removes a listener from the
 * client that all requests share.
 */
interface GrantSignal {
  readonly signal: AbortSignal;
  readonly stop: () => void;
}

/**
 * Aborts when the credential ends, or when a change of its grant makes `requireGrant` throw, with that error as the
 * reason. So a changed grant reaches open streams and waits (docs/decisions.md 64).
 */
export function grantSignal(
  session: Pick<Session, 'onGrantChange' | 'ended'>,
  requireGrant: () => void,
): GrantSignal {
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
