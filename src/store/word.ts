import { randomBytes } from 'node:crypto';
import { hex } from '@scure/base';

/** With 64 bits, two branches have the same word in one place by chance never in practice. */
const BYTES = 8;

/** Draws the word of an advance, in hex. */
export function newWord(): string {
  return hex.encode(new Uint8Array(randomBytes(BYTES)));
}
