import { isLoopbackHost } from '../config/network.ts';
import { readCookie } from '../lib/cookie-file.ts';
import { readOwner } from '../lib/data-dir.ts';

/**
 * Returns the owner's cookie for a base URL. It returns null unless the owner of the data directory has noted that it
 * listens there, so that the cookie goes to no other program (docs/decisions.md 73).
 */
export function cookieFor(baseUrl: string, dataDir: string): string | null {
  const owner = readOwner(dataDir)?.url;
  return owner && isSamePlace(owner, baseUrl) ? readCookie(dataDir) : null;
}

/** Whether two URLs are equal, or have the same port and two names of this machine. */
function isSamePlace(owner: string, baseUrl: string): boolean {
  if (owner === baseUrl) return true;
  const [noted, asked] = [new URL(owner), new URL(baseUrl)];
  const local = [noted, asked].every(({ host }) => isLoopbackHost(host));
  return local && noted.protocol === asked.protocol && noted.port === asked.port;
}
