import { randomBytes } from 'node:crypto';

/** Returns so many bytes that nobody can guess. It is passed in where tests choose them. */
export function random(bytes: number): Uint8Array {
  return new Uint8Array(randomBytes(bytes));
}
