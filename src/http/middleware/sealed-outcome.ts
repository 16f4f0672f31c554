import { hkdfSync } from 'node:crypto';
import { decrypt, encrypt } from '../../lib/secrets/aes-gcm.ts';

const PREFIX = 'sealed:';

/**
 * Encrypts an outcome that holds a secret. Only the caller's own credential together with the Idempotency-Key decrypts
 * it (docs/decisions.md 53).
 */
export function seal(body: string, sealKey: Uint8Array, idempotencyKey: string): string {
  return PREFIX + encrypt(body, keyFor(sealKey, idempotencyKey)).toString('base64');
}

/** Returns whether {@link seal} produced the text. */
export function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Decrypts what {@link seal} produced. Returns null with another credential or Idempotency-Key. */
export function unseal(text: string, sealKey: Uint8Array, idempotencyKey: string): string | null {
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64');
  return decrypt(bytes, keyFor(sealKey, idempotencyKey));
}

function keyFor(sealKey: Uint8Array, idempotencyKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sealKey, idempotencyKey, 'wallet-sidecar/outcome', 32));
}
