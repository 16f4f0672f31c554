import { readdirSync } from 'node:fs';
import { codeOf } from '../lib/error-code.ts';
import { readCookie } from '../lib/files/cookie-file.ts';
import { readRunningOwner } from '../lib/files/data-dir.ts';
import { isLoopbackHost } from '../lib/network/loopback-host.ts';

interface OwnersCookie {
  /** Base URL as the owner of the data directory noted it. */
  readonly baseUrl: string;
  readonly token: string;
}

/**
 * Returns the owner's cookie for a base URL; null unless the owner of the data directory noted that it listens there,
 * or at the same port of another name of this machine. The cookie may be sent to the noted address only: behind another
 * loopback address with this port another user's program may listen (docs/decisions.md 73).
 */
export function cookieFor(baseUrl: string, dataDir: string): OwnersCookie | null {
  const noted = notedUrl(dataDir);
  if (!noted || !isSameSidecar(noted, baseUrl)) return null;
  const token = readCookie(dataDir);
  return token === null ? null : { baseUrl: noted, token };
}

/** Whether two URLs are equal, or have the same port and two names of this machine. */
function isSameSidecar(noted: string, baseUrl: string): boolean {
  if (noted === baseUrl) return true;
  const urls = [new URL(noted), new URL(baseUrl)] as const;
  const local = urls.every(({ host }) => isLoopbackHost(host));
  return local && urls[0].protocol === urls[1].protocol && urls[0].port === urls[1].port;
}

/**
 * Returns the address that the owner of a data directory noted; null where none is noted, or not yet, or by a process
 * that has ended: another user's program may listen there by now (docs/decisions.md 191).
 */
export function notedUrl(dataDir: string): string | null {
  return readRunningOwner(dataDir)?.url ?? null;
}

/** Returns a sentence about a data directory whose sidecar listens at another address; null where it does not. */
export function listensElsewhere(baseUrl: string, dataDir: string): string | null {
  const noted = notedUrl(dataDir);
  if (noted === null || isSameSidecar(noted, baseUrl)) return null;
  return `The sidecar of ${dataDir} listens, or listened last, at ${noted}: name it with --url.`;
}

/** Returns a sentence that says that this user cannot look for the cookie in a data directory; null where it can. */
export function mayNotLook(dataDir: string): string | null {
  try {
    readdirSync(dataDir);
    return null;
  } catch (error) {
    if (codeOf(error) !== 'EACCES') return null;
    return `This user may not read ${dataDir}, where the cookie is: use sudo, or credentials with --client-credentials-path.`;
  }
}
