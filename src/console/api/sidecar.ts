import { baseUrlOf } from '../../client/base-url.ts';
import { WalletSidecar } from '../../client/index.ts';
import { Transport } from '../../client/transport.ts';
import { sessionKey } from './session-key.ts';
import type { About, LinkedWallet } from './types.ts';

/** Sent with every request, so that none of them can be answered without a session (docs/decisions.md 133). */
const KEY_HEADER = 'console-key';

/** A sidecar that is silent for so long, in milliseconds, counts as away. */
const SILENT_MS = 5000;

interface Heard {
  /** A request got an answer (true), or none (false). */
  readonly onReached?: (reached: boolean) => void;
  readonly onStream?: () => void;
  readonly onEnded: () => void;
}

/** The sidecar that served this page, as one session reaches it. */
export interface Sidecar {
  readonly api: WalletSidecar;
  /** The controls of the sandbox, which the client has no methods for. */
  readonly transport: Transport;
  about(): Promise<About>;
  /** Asks whether it answers, which `onReached` is told. It keeps no session from ending. */
  ping(): Promise<void>;
  signOut(): Promise<void>;
}

/** Opens the sidecar for the session with that key. */
export function openSidecar(key: string, { onReached, onStream, onEnded }: Heard): Sidecar {
  const options = {
    url: location.origin,
    onIgnoredFields: () => undefined,
    async fetch(url: string, init: RequestInit): Promise<Response> {
      let response: Response;
      try {
        response = await fetch(url, { ...init, headers: { ...init.headers, [KEY_HEADER]: key } });
      } catch (error) {
        if (init.signal?.aborted !== true) onReached?.(false);
        throw error;
      }
      onReached?.(true);
      if (response.status === 401) onEnded();
      if (response.headers.get('content-type')?.startsWith('text/event-stream')) onStream?.();
      return response;
    },
  };
  const transport = new Transport(options);
  return {
    api: new WalletSidecar(options),
    transport,
    about: () => transport.get('/v2/console/about', {}),
    ping: () =>
      fetch('/v2/health', { signal: AbortSignal.timeout(SILENT_MS) }).then(
        () => onReached?.(true),
        () => onReached?.(false),
      ),
    signOut: () => transport.post('/v2/console/sign_out', {}),
  };
}

/**
 * Signs in with the token of a one-time link, or with credentials. Returns the session's key. Sends nothing and throws
 * a `TypeError` where others could read it: the sidecar's own refusal would come too late.
 */
export async function signIn(given: { link: string } | { credentials: string }): Promise<string> {
  // The key of the session that the browser has ends that session.
  const transport = beforeSignIn(sessionKey.read() ?? 'none');
  const { key } = await transport.post<{ key: string }>('/v2/console/session', given);
  return key;
}

/** Returns whose wallet a one-time link opens, and does not use the link. Throws as {@link signIn} does. */
export async function walletOfLink(link: string): Promise<LinkedWallet> {
  return beforeSignIn('none').post<LinkedWallet>('/v2/console/link_wallet', { link });
}

function beforeSignIn(key: string): Transport {
  const headers = { [KEY_HEADER]: key };
  return new Transport({
    url: baseUrlOf(location.origin, true),
    maxRetries: 0,
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...headers } }),
  });
}
