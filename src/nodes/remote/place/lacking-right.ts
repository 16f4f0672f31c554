import { isApiError, refused } from '../../../model/errors.ts';
import type { PlaceProtocol } from './protocol.ts';

/**
 * Returns the error for a call with the owner's token: a missing right is told as the configuration's; others stay.
 * `what` completes "may not", such as `end clients' macaroons (macaroon:write)`.
 */
export function orLackingRight(
  error: unknown,
  what: string,
  { kind, tokenName }: Pick<PlaceProtocol<unknown>, 'kind' | 'tokenName'>,
): unknown {
  if (!isApiError(error, 'forbidden')) return error;
  return refused(
    `The configured ${tokenName} may not ${what}: run \`connect ${kind}\` with one that may.`,
    error,
  );
}
