import { ApiError } from '../../model/errors.ts';
import type { RemoteFailure } from '../remote/failure.ts';

/** The error of this API for a call that ended without an answer of LND (docs/api.md, Errors). */
export function brokenError(failure: RemoteFailure, outcomeUnknown: boolean): ApiError {
  const options = { cause: failure, outcomeUnknown };
  switch (failure.reason) {
    case 'timeout':
      return new ApiError('timeout', 'LND did not answer in time: try again.', options);
    case 'oversized':
      return new ApiError('unreadable', 'The answer of LND is too large: check its URL.', options);
    case 'redirected':
      return new ApiError(
        'unreadable',
        'LND answered with a redirect, which is not followed: check its URL.',
        options,
      );
    case 'certificate':
      return new ApiError(
        'unreachable',
        'The certificate that LND shows is not the one that was given, or is for another host name: check both.',
        options,
      );
    case 'proxy':
      return new ApiError(
        'unreachable',
        'LND cannot be reached through the SOCKS5 proxy: check that the proxy runs at the address of --node-proxy, and that LND is running.',
        options,
      );
    case 'onion':
      return new ApiError(
        'unreachable',
        'LND is at an onion address: name the SOCKS5 proxy of Tor with --node-proxy, such as 127.0.0.1:9050.',
        options,
      );
    default:
      return new ApiError(
        'unreachable',
        'LND cannot be reached: check that it is running, and try again.',
        options,
      );
  }
}

/** The error of this API for an answer of LND that cannot be read. */
export function unreadable(cause: unknown, outcomeUnknown: boolean): ApiError {
  return new ApiError('unreadable', 'The answer of LND cannot be read: check the version of LND.', {
    cause,
    outcomeUnknown,
  });
}
