import { ERROR_CODES, WalletSidecarError } from '../../client/index.ts';

/**
 * Errors that a request may get before its Idempotency-Key is looked at. They say of that request alone that it sent
 * nothing, and nothing of an earlier one with the key.
 */
const BEFORE_THE_KEY: ReadonlySet<number> = new Set([
  ERROR_CODES.unreachable,
  ERROR_CODES.timeout,
  ERROR_CODES.unreadable,
  ERROR_CODES.internal,
  ERROR_CODES.overCapacity,
  ERROR_CODES.unauthenticated,
  ERROR_CODES.forbidden,
  ERROR_CODES.hostNotAllowed,
]);

/**
 * Returns whether money may have moved although a request got an error. `isRepeat` says that an earlier request with
 * the same key may have been received. What is no answer of the sidecar proves nothing.
 */
export function mayBeSent(error: Error, isRepeat: boolean): boolean {
  if (!(error instanceof WalletSidecarError) || error.mayHaveTakenEffect) return true;
  return isRepeat && (error.code === null || BEFORE_THE_KEY.has(error.code));
}
