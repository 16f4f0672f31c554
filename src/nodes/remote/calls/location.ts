import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';

/** The place of a node's HTTPS interface. */
export interface RemoteLocation {
  readonly url: string;
  /** PEM of the node's self-signed certificate, the only one accepted then; null trusts the system's authorities. */
  readonly cert: string | null;
}

/** Returns the hex SHA-256 of a place, by URL and certificate. Slashes at the end and white space do not matter. */
export function fingerprintOf({ url, cert }: RemoteLocation): string {
  const { origin, pathname } = new URL(url);
  const place = [`${origin}${pathname.replace(/\/+$/, '')}`, cert?.replace(/\s+/g, '') ?? null];
  return hex.encode(sha256(utf8ToBytes(JSON.stringify(place))));
}
