import { isLoopbackHost } from '../config/network.ts';
import { readCookie } from '../lib/cookie-file.ts';
import { readOwner } from '../lib/data-dir.ts';

/**
 * The owner's cookie for a base URL: only where the sidecar that owns the data directory says that it listens there,
 * so that the cookie goes to no other program. Null when there is none to send.
 */
export function cookieFor(baseUrl: string, dataDir: string): string | null {
  const owner = readOwner(dataDir)?.url;
  return owner && isSamePlace(owner, baseUrl) ? readCookie(dataDir) : null;
}

/** The same address, or the same port by another name of this machine. */
function isSamePlace(owner: string, baseUrl: string): boolean {
  if (owner === baseUrl) return true;
  const [noted, asked] = [new URL(owner), new URL(baseUrl)];
  const local = [noted, asked].every(({ host }) => isLoopbackHost(host));
  return local && noted.protocol === asked.protocol && noted.port === asked.port;
}
