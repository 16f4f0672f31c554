import type { Session } from '../wallet/session.ts';

/** What the layers of a request with a body leave for its handler. */
export interface AppEnv {
  Bindings: {
    /** Bun's server, where the app runs in one. */
    readonly timeout?: (request: Request, seconds: number) => void;
  };
  Variables: {
    /** The route's path, for the log. */
    path: string | undefined;
    session: Session | undefined;
    body: unknown;
    query: unknown;
    /** True while a request that moves money has certainly moved none: errors then say so. */
    nothingSent: boolean | undefined;
    /** The paths of fields and parameters that were ignored. */
    ignored: readonly (readonly string[])[] | undefined;
    /** To be called when the body has been read. */
    bodyRead: (() => void) | undefined;
  };
}
