import type { Session } from '../wallet/session.ts';

/** What middleware leaves for the handlers of a request. */
export interface AppEnv {
  Bindings: {
    /** Bun's server, where the app runs in one. */
    readonly timeout?: (request: Request, seconds: number) => void;
  };
  Variables: {
    requestId: string;
    session: Session;
    body: unknown;
    query: unknown;
  };
}
