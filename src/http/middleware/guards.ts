import { ApiError } from '../../model/errors.ts';

interface GuardOptions {
  /** The accepted values of the Host header, in lower case, with and without port. */
  readonly allowedHosts: ReadonlySet<string>;
}

/**
 * Keeps web pages away from the wallet (docs/decisions.md 70). The Host header must name this server, which defeats DNS
 * rebinding. An Origin header must name this server too, and Sec-Fetch-Site must not be `cross-site` or `same-site`.
 * Throws error 112 otherwise. No CORS header is sent, but for payers at the address domain (docs/decisions.md 100).
 */
export function localGuard(options: GuardOptions): (request: Request) => void {
  const { allowedHosts } = options;
  // Most clients already send the host in lower case, so the conversion is tried second.
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
    const isForeign = origin !== null && !isOwnOrigin(origin, allowedHosts);
    const site = headers.get('sec-fetch-site');
    if (isForeign || site === 'cross-site' || site === 'same-site') {
      throw new ApiError(
        'hostNotAllowed',
        'Requests from other web pages are not allowed: call the sidecar from a program, not from a browser.',
      );
    }
  };
}

function isOwnOrigin(origin: string, allowedHosts: ReadonlySet<string>): boolean {
  const match = /^https?:\/\/(.+)$/.exec(origin.toLowerCase());
  return match?.[1] !== undefined && allowedHosts.has(match[1]);
}
