import { ApiError, type ErrorName } from '../../../model/errors.ts';
import type { FailureReason, RemoteFailure } from './failure.ts';

type Said = readonly [ErrorName, (title: string) => string];

const UNREACHABLE: Said = [
  'unreachable',
  (title) => `${title} cannot be reached: check that it is running, and try again.`,
];
const SAID: Readonly<Record<FailureReason, Said>> = {
  unreachable: UNREACHABLE,
  aborted: UNREACHABLE,
  timeout: ['timeout', (title) => `${title} did not answer in time: try again.`],
  oversized: ['unreadable', (title) => `The answer of ${title} is too large: check its URL.`],
  redirected: [
    'unreadable',
    (title) => `${title} answered with a redirect, which is not followed: check its URL.`,
  ],
  certificate: [
    'unreachable',
    (title) =>
      `The certificate that ${title} shows is not the one that was given, or is for another host name: check both.`,
  ],
  proxy: [
    'unreachable',
    (title) =>
      `${title} cannot be reached through the SOCKS5 proxy: check that the proxy runs at the address of --node-proxy, and that ${title} is running.`,
  ],
  onion: [
    'unreachable',
    (title) =>
      `${title} is at an onion address: name the SOCKS5 proxy of Tor with --node-proxy, such as 127.0.0.1:9050.`,
  ],
};

/**
 * The error of this API for a call that ended without an answer of the node (docs/api.md, Errors). `title` is what
 * people call a node of its kind.
 */
export function brokenError(
  title: string,
  failure: RemoteFailure,
  outcomeUnknown: boolean,
): ApiError {
  const [kind, text] = SAID[failure.reason];
  return new ApiError(kind, text(title), { cause: failure, outcomeUnknown });
}

/** The error of this API for an answer that cannot be read, of a node that people call `title`. */
export function unreadable(title: string, cause: unknown, outcomeUnknown: boolean): ApiError {
  return new ApiError(
    'unreadable',
    `The answer of ${title} cannot be read: check the version of ${title}.`,
    { cause, outcomeUnknown },
  );
}
