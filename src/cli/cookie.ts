import { readCookie } from '../lib/cookie-file.ts';
import { readOwner } from '../lib/data-dir.ts';

/**
 * The owner's cookie for a base URL: only where the sidecar that owns the data directory says that it listens there,
 * so that the cookie goes to no other program. Null when there is none to send.
 */
export function cookieFor(baseUrl: string, dataDir: string): string | null {
  return readOwner(dataDir)?.url === baseUrl ? readCookie(dataDir) : null;
}
