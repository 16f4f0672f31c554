import type { PassedOn } from '../fleet/passed-on.ts';
import type { ClientOfDevice } from '../wallet/open/wallets.ts';

/** What the layers of a request tell each other. */
export interface AppEnv {
  Bindings: {
    /** Returns the address of the other end of a request's connection. Bun's server provides it. */
    readonly peer?: (request: Request) => string | null;
    /** Sets the idle limit of a request's connection; absent in tests without Bun's server. */
    readonly timeout?: (request: Request, seconds: number) => void;
    /** What the sidecar tells that passed the request on; absent for a request of a caller (docs/decisions.md 139). */
    readonly passedOn?: PassedOn;
    /**
     * The client in whose name this process itself makes the request, after it has found out by other means that the
     * client asks (docs/decisions.md 200). No header says so.
     */
    readonly speaker?: ClientOfDevice;
  };
  Variables: {
    /** The path of the matched route, for the log. */
    path: string | undefined;
    /**
     * What errors of a request that moves money say in `data.sent` before its handler is called
     * (docs/decisions.md 174); undefined from then on.
     */
    sentBefore: 'no' | 'unknown' | undefined;
    /** Aborts when the session of the console that made the request ends. */
    consoleEnded: AbortSignal | undefined;
    /** The paths of fields and parameters that were ignored. */
    ignored: readonly (readonly string[])[] | undefined;
  };
}
