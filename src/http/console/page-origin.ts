import { isLoopbackHost } from '../../lib/network/loopback-host.ts';
import { ApiError } from '../../model/errors.ts';

/**
 * Returns the origin of the console's page that signs in. The request must come from a page of this very host, so it
 * needs an Origin header that names the same host and port as Host. Throws error 112 otherwise, and for plain http
 * beyond this machine, where others could read the session (docs/decisions.md 132).
 */
export function signInOrigin(headers: Headers): string {
  const origin = originOf(headers.get('origin'));
  if (origin === null || origin.host !== headers.get('host')?.toLowerCase()) throw foreign();
  requireSameOrigin(headers);
  if (origin.protocol === 'https:' || isLoopbackHost(origin.hostname)) return origin.origin;
  throw new ApiError(
    'hostNotAllowed',
    'The console takes credentials on this machine or over https only: open it by an https address.',
  );
}

/** Throws error 112 unless Sec-Fetch-Site, or Origin without it, says that a page of this origin asks. */
export function requirePageOf(origin: string, headers: Headers): void {
  const given = headers.get('origin');
  const isSaid = given !== null || headers.has('sec-fetch-site');
  const isHost = new URL(origin).host === headers.get('host')?.toLowerCase();
  if (!isSaid || !isHost || (given !== null && given.toLowerCase() !== origin)) throw foreign();
  requireSameOrigin(headers);
}

/**
 * Returns the name of the session's cookie. Browsers share cookies between the ports of a host, so the name holds the
 * port. Over https the prefix keeps other hosts of the domain from setting it (RFC 6265bis, section 4.1.3.2).
 */
export function cookieName(origin: string): string {
  const { protocol, port } = new URL(origin);
  return protocol === 'https:'
    ? `__Host-wallet-sidecar-${port || '443'}`
    : `wallet-sidecar-${port || '80'}`;
}

/** Returns every value of a cookie, since another program of this host can set a second one of the same name. */
export function cookieValues(headers: Headers, name: string): string[] {
  return (headers.get('cookie') ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}

/** Returns the Set-Cookie header that gives a browser its session, for so many seconds, or with null takes it away. */
export function sessionCookie(origin: string, id: string | null, maxAgeSecs?: number): string {
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  const secs = id === null ? 0 : maxAgeSecs;
  const ends = secs === undefined ? '' : `; Max-Age=${secs}`;
  return `${cookieName(origin)}=${id ?? ''}; Path=/; HttpOnly; SameSite=Strict${secure}${ends}`;
}

/** Returns an Origin header as a URL; null when there is none, or none of a web page. */
function originOf(text: string | null): URL | null {
  return text !== null && /^https?:\/\/[^/]+$/i.test(text) && URL.canParse(text)
    ? new URL(text)
    : null;
}

function requireSameOrigin(headers: Headers): void {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin') throw foreign();
}

function foreign(): ApiError {
  return new ApiError(
    'hostNotAllowed',
    "Only the console's own page may do this: open it at the address of this sidecar. A proxy before it must pass the Host header on.",
  );
}
