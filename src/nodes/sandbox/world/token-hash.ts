import { createHash } from 'node:crypto';

/** Returns the SHA-256 of a token's text, as the world stores it. */
export function hashOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
