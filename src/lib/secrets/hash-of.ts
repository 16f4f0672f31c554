import { createHash } from 'node:crypto';

/** Returns the hex SHA-256 of a secret, by which its row is found without the secret being kept. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
