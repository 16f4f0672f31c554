import { type Payment, type WalletSidecar, WalletSidecarError } from '../../client/index.ts';

/** How long to wait before an event stream that could not be opened is opened again, in milliseconds. */
const AGAIN_MS = 1000;

/** A payment that has changed; null when the stream was opened, so that anything may have changed before. */
type Change = Payment | null;

/** The changes of payments as they happen. */
export interface Live {
  /** Calls `listener` with each change. Returns a function that stops it. */
  onChange(listener: (change: Change) => void): () => void;
}

/** {@link Live}, and how it is steered. */
export interface OpenLive extends Live {
  /** Must be called when a stream of the sidecar was opened. */
  opened(): void;
  close(): void;
}

/**
 * Follows the changes of payments until it is closed. While the sidecar is away it tries again, and then goes on after
 * the last change that it has seen, so that none is missed. While nobody sees the page there is no stream, because
 * browsers have few connections to one server, for all their tabs.
 */
export function followPayments(api: WalletSidecar): OpenLive {
  const listeners = new Set<(change: Change) => void>();
  const closed = new AbortController();
  const tell = (change: Change) => {
    for (const listener of listeners) listener(change);
  };
  void follow(api, closed.signal, tell);
  return {
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    opened: () => tell(null),
    close: () => closed.abort(),
  };
}

async function follow(
  api: WalletSidecar,
  closed: AbortSignal,
  tell: (change: Change) => void,
): Promise<void> {
  let startIndex: string | undefined;
  while (!closed.aborted) {
    await seen();
    const hidden = untilHidden(closed);
    try {
      const signal = AbortSignal.any([closed, hidden]);
      for await (const { payment, updatedIndex } of api.events({ signal, startIndex })) {
        startIndex = updatedIndex;
        tell(payment);
      }
    } catch (error) {
      // An error of the caller stays one: the session has ended, or may not read payments.
      const isOver = error instanceof WalletSidecarError && (error.httpStatus ?? 500) < 500;
      if (isOver) return;
      if (!hidden.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}

/** Resolves when the page is seen. */
function seen(): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    look();
  });
}

function untilHidden(closed: AbortSignal): AbortSignal {
  const hidden = new AbortController();
  const look = () => document.hidden && hidden.abort();
  document.addEventListener('visibilitychange', look, {
    signal: AbortSignal.any([closed, hidden.signal]),
  });
  return hidden.signal;
}
