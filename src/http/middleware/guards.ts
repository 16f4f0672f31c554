import { ApiError } from '../../model/errors.ts';

interface GuardOptions {
  /** Host header values that name this server, lowercase, with and without port. */
  readonly allowedHosts: ReadonlySet<string>;
}

/**
 * Keeps web pages away from the wallet (decisions section 8): the Host header must name this server, which defeats
 * rebound names; a browser's Origin must be this server's own, and Sec-Fetch-Site must not come from elsewhere. No
 * CORS header is ever sent.
 */
export function localGuard(options: GuardOptions): (request: Request) => void {
  const { allowedHosts } = options;
  // Nearly all hosts are written as they are allowed.
  const isAllowed = (host: string) =>
    allowedHosts.has(host) || allowedHosts.has(host.toLowerCase());
  return ({ headers }) => {
    const host = headers.get('host');
    if (host === null || !isAllowed(host)) {
      throw new ApiError(
        'hostNotAllowed',
        'The Host header does not name this sidecar: use its listen address, or start it with --allow-host.',
      );
    }
    const origin = headers.get('origin');
    if (origin !== null && !isOwnOrigin(origin, allowedHosts)) {
      throw new ApiError(
        'hostNotAllowed',
        'Requests from other web pages are not allowed: call the sidecar from a program, not from a browser.',
      );
    }
    const site = headers.get('sec-fetch-site');
    if (site === 'cross-site' || site === 'same-site') {
      throw new ApiError(
        'hostNotAllowed',
        'Requests that another web page causes are not allowed.',
      );
    }
  };
}

function isOwnOrigin(origin: string, allowedHosts: ReadonlySet<string>): boolean {
  const match = /^https?:\/\/(.+)$/.exec(origin.toLowerCase());
  return match?.[1] !== undefined && allowedHosts.has(match[1]);
}
