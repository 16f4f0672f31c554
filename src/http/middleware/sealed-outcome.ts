import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const PREFIX = 'sealed:';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts an outcome that holds a secret, with AES-256-GCM. Only the caller's own credential together with the
 * Idempotency-Key decrypts it (docs/decisions.md 53).
 */
export function seal(body: string, sealKey: Uint8Array, idempotencyKey: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyFor(sealKey, idempotencyKey), nonce);
  const sealed = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]);
  return PREFIX + Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64');
}

/** Returns whether {@link seal} produced the text. */
export function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Decrypts what {@link seal} produced. Returns null with another credential or Idempotency-Key. */
export function unseal(text: string, sealKey: Uint8Array, idempotencyKey: string): string | null {
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyFor(sealKey, idempotencyKey), nonce);
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const sealed = bytes.subarray(NONCE_BYTES, -TAG_BYTES);
    return Buffer.concat([decipher.update(sealed), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function keyFor(sealKey: Uint8Array, idempotencyKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', sealKey, idempotencyKey, 'wallet-sidecar/outcome', 32));
}
