import { sleep } from '../lib/sleep.ts';

/** Serves a request in this process, and returns its answer. */
export type AnswerHere = (request: Request, env: RequestEnv) => Promise<Response>;

/** What the server tells of a request's connection. */
export interface RequestEnv {
  readonly peer?: (request: Request) => string | null;
  readonly timeout?: (request: Request, seconds: number) => void;
}

/** Which sidecar leads, as far as this process knows. */
type Lead =
  /** Nobody that is known of, or one that has not told yet where it is. */
  | { readonly kind: 'unknown' }
  /** One that was started without --peer-url. */
  | { readonly kind: 'hidden' }
  | {
      readonly kind: 'peer';
      readonly fence: string;
      readonly url: string;
      /** Aborts when another sidecar, or this one, has taken over. */
      readonly over: AbortSignal;
    }
  /** This process, which answers as soon as it has started. */
  | { readonly kind: 'self'; readonly answer: Promise<AnswerHere> };

/** Holds which sidecar leads. */
export interface Leads {
  current(): Lead;
  /** Resolves when another one leads than `before`, after `ms`, or when a signal aborts; never rejects. */
  changed(before: Lead, ms: number, signal: AbortSignal): Promise<void>;
  /** Another process leads, and is at that URL: undefined when it has not told yet, null when it has none. */
  see(fence: string, url: string | null | undefined): void;
  take(answer: Promise<AnswerHere>): void;
}

/** Opens it with nobody known. */
export function openLeads(): Leads {
  let lead: Lead = { kind: 'unknown' };
  let fence: string | null = null;
  let over = new AbortController();
  let next = new AbortController();
  const set = (one: Lead) => {
    lead = one;
    const before = next;
    next = new AbortController();
    before.abort();
  };
  const end = () => {
    over.abort();
    over = new AbortController();
  };
  return {
    current: () => lead,
    changed: (before, ms, signal) =>
      before === lead ? sleep(ms, AbortSignal.any([next.signal, signal])) : Promise.resolve(),
    see(seen, url) {
      const kind = url === undefined ? 'unknown' : url === null ? 'hidden' : 'peer';
      if (fence === seen && lead.kind === kind) return;
      // One that leads for another time is another one, also at the same place.
      if (fence !== seen) end();
      fence = seen;
      if (url) set({ kind: 'peer', fence: seen, url, over: over.signal });
      else set({ kind: kind === 'hidden' ? 'hidden' : 'unknown' });
    },
    take(answer) {
      end();
      set({ kind: 'self', answer });
    },
  };
}
