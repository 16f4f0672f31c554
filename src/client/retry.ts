import { WalletSidecarError } from './error.ts';
import { ERROR_CODES } from './generated/errors.ts';

/** The first delay in milliseconds before a call is repeated. The delay doubles each time. */
const FIRST_DELAY_MS = 200;
/** The longest delay in milliseconds. A call is not repeated if the sidecar asks for a longer one. */
const MOST_DELAY_MS = 10_000;

/**
 * Returns how many milliseconds to wait before a call that ended with `error` is repeated for the `attempt`th time
 * (from 1). Returns null if repeating cannot help: only a sidecar that did not answer, is full or stopping, or cannot
 * reach its node may succeed a moment later.
 */
export function retryDelayMs(error: unknown, attempt: number): number | null {
  if (!(error instanceof WalletSidecarError)) return null;
  const passing =
    error.kind === 'unreachable' ||
    error.kind === 'unanswered' ||
    error.code === ERROR_CODES.overCapacity ||
    error.code === ERROR_CODES.unreachable;
  if (!passing || (error.retryAfterMs ?? 0) > MOST_DELAY_MS) return null;
  if (error.retryAfterMs !== null) return error.retryAfterMs;
  const delayMs = Math.min(MOST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1));
  // Half of the delay is random, so that the clients of a restarted sidecar do not all call at the same time.
  return delayMs * (0.5 + Math.random() / 2);
}

/** Resolves after `ms` milliseconds. Rejects with the signal's reason when the signal aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
