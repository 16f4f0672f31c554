import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';

/** Where a node's HTTPS interface is found. */
export interface RemoteLocation {
  /** Base URL. */
  readonly url: string;
  /** PEM of its self-signed certificate, which is then the only one accepted; null trusts the system's authorities. */
  readonly cert: string | null;
}

/** Hex SHA-256 that names a place: its URL and its certificate, however they are written. */
export function fingerprintOf({ url, cert }: RemoteLocation): string {
  const { origin, pathname } = new URL(url);
  const place = [`${origin}${pathname.replace(/\/+$/, '')}`, cert?.replace(/\s+/g, '') ?? null];
  return hex.encode(sha256(utf8ToBytes(JSON.stringify(place))));
}
