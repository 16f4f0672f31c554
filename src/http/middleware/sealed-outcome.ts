import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const PREFIX = 'sealed:';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals an outcome that holds a secret: only the caller's own credential together with the Idempotency-Key opens it
 * (decisions section 6). AES-256-GCM.
 */
export function seal(body: string, sealKey: Uint8Array, idempotencyKey: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', keyFor(sealKey, idempotencyKey), nonce);
  const sealed = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]);
  return PREFIX + Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64');
}

/** Whether {@link seal} wrote this. */
export function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Opens what {@link seal} wrote; null with another credential or key. */
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
