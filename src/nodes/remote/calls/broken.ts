import { ApiError } from '../../../model/errors.ts';
import type { RemoteFailure } from './failure.ts';

/**
 * The error of this API for a call that ended without an answer of the node (docs/api.md, Errors). `title` is what
 * people call a node of its kind.
 */
export function brokenError(
  title: string,
  failure: RemoteFailure,
  outcomeUnknown: boolean,
): ApiError {
  const options = { cause: failure, outcomeUnknown };
  switch (failure.reason) {
    case 'timeout':
      return new ApiError('timeout', `${title} did not answer in time: try again.`, options);
    case 'oversized':
      return new ApiError(
        'unreadable',
        `The answer of ${title} is too large: check its URL.`,
        options,
      );
    case 'redirected':
      return new ApiError(
        'unreadable',
        `${title} answered with a redirect, which is not followed: check its URL.`,
        options,
      );
    case 'certificate':
      return new ApiError(
        'unreachable',
        `The certificate that ${title} shows is not the one that was given, or is for another host name: check both.`,
        options,
      );
    case 'proxy':
      return new ApiError(
        'unreachable',
        `${title} cannot be reached through the SOCKS5 proxy: check that the proxy runs at the address of --node-proxy, and that ${title} is running.`,
        options,
      );
    case 'onion':
      return new ApiError(
        'unreachable',
        `${title} is at an onion address: name the SOCKS5 proxy of Tor with --node-proxy, such as 127.0.0.1:9050.`,
        options,
      );
    default:
      return new ApiError(
        'unreachable',
        `${title} cannot be reached: check that it is running, and try again.`,
        options,
      );
  }
}

/** The error of this API for an answer that cannot be read, of a node that people call `title`. */
export function unreadable(title: string, cause: unknown, outcomeUnknown: boolean): ApiError {
  return new ApiError(
    'unreadable',
    `The answer of ${title} cannot be read: check the version of ${title}.`,
    { cause, outcomeUnknown },
  );
}
