import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const NOTHING = new Uint8Array();

/**
 * Encrypts a text with a 32-byte key (AES-256-GCM). Returns a random nonce, the encrypted text and the tag. `bound` is
 * what the text belongs to: it is not in the result, and {@link decrypt} must be given the same.
 */
export function encrypt(text: string, key: Uint8Array, bound: Uint8Array = NOTHING): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bound);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, body, cipher.getAuthTag()]);
}

/** Decrypts what {@link encrypt} returned. Returns null where key or `bound` differ, or the bytes were changed. */
export function decrypt(
  bytes: Uint8Array,
  key: Uint8Array,
  bound: Uint8Array = NOTHING,
): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES)).setAAD(bound);
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const body = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
