import { isApiError, refused } from '../../../model/errors.ts';
import type { PlaceProtocol } from './protocol.ts';

/**
 * The result of a call with the owner's token. A right that it lacks is told as the configuration's; other errors stay.
 * `what` completes "may not", such as `end clients' macaroons (macaroon:write)`.
 */
export async function withRight<T>(
  call: Promise<T>,
  what: string,
  { kind, tokenName }: Pick<PlaceProtocol<unknown>, 'kind' | 'tokenName'>,
): Promise<T> {
  return call.catch((error: unknown) => {
    if (!isApiError(error, 'forbidden')) throw error;
    throw refused(
      `The configured ${tokenName} may not ${what}: run \`connect ${kind}\` with one that may.`,
      error,
    );
  });
}
