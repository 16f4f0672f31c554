import { createHash, timingSafeEqual } from 'node:crypto';

/** Returns whether two secrets are the same text. The time that this takes reveals nothing about either. */
export function isSameSecret(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return left !== undefined && right !== undefined && timingSafeEqual(left, right);
}
