import { createHash, randomBytes } from 'node:crypto';
import { hex } from '@scure/base';
import { decrypt, encrypt } from './aes-gcm.ts';

/** Encrypts values that are stored where others may read them (docs/decisions.md 138). */
export interface Sealer {
  /** Names the key without telling anything of it: 16 hex characters. */
  readonly keyId: string;
  /** Encrypts a text. Only the same place decrypts it, so that a value cannot be moved to another row or column. */
  seal(text: string, place: SealedPlace): string;
  /** Decrypts what {@link seal} returned for the same place. Throws {@link SealBroken}. */
  open(sealed: string, place: SealedPlace): string;
}

interface SealedPlace {
  readonly table: string;
  readonly column: string;
  /** The row: the wallet, and the rest of the row's key. */
  readonly row: readonly string[];
}

/** A sealed value that was changed, moved, or sealed with another key. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

const VERSION = 's1';
const SALT_BYTES = 16;

/**
 * Returns the sealer of a 32-byte key. It uses AES-256-GCM. Each value has a key of its own (HKDF-SHA256 with a random
 * salt), so that the number of values is not bounded by the length of a nonce.
 */
export function sealer(key: Uint8Array): Sealer {
  const keyId = keyIdOfKey(key);
  return {
    keyId,
    seal(text, place) {
      const salt = randomBytes(SALT_BYTES);
      const sealed = Buffer.concat([salt, encrypt(text, valueKey(key, salt), nameOf(place))]);
      return `${VERSION}.${keyId}.${sealed.toString('base64url')}`;
    },
    open(sealed, place) {
      const [version, id, text = ''] = sealed.split('.');
      if (version !== VERSION || id !== keyId) throw broken(place);
      const bytes = Buffer.from(text, 'base64url');
      const salt = bytes.subarray(0, SALT_BYTES);
      const opened = decrypt(bytes.subarray(SALT_BYTES), valueKey(key, salt), nameOf(place));
      if (opened === null) throw broken(place);
      return opened;
    },
  };
}

/** Returns the id of the key that sealed a value; null for a text that is not sealed. */
export function keyIdOf(sealed: string): string | null {
  const [version, id] = sealed.split('.');
  return version === VERSION && id !== undefined ? id : null;
}

/** Names a 32-byte key without telling anything of it: 16 hex characters. */
export function keyIdOfKey(key: Uint8Array): string {
  const hash = createHash('sha256').update('wallet-sidecar/secrets-key-id').update(key).digest();
  return hex.encode(new Uint8Array(hash.subarray(0, 8)));
}

/** HKDF-SHA256 (RFC 5869) of one block: a third of the time of node:crypto's, and a list opens thousands of values. */
function valueKey(key: Uint8Array, salt: Uint8Array): Uint8Array {
  const drawn = new Bun.CryptoHasher('sha256', salt).update(key).digest();
  return new Bun.CryptoHasher('sha256', drawn).update('wallet-sidecar/sealed-value\u0001').digest();
}

/** The associated data. JSON keeps the parts apart, whatever they hold. */
function nameOf({ table, column, row }: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify([table, column, ...row]));
}

function broken({ table, column }: SealedPlace): SealBroken {
  return new SealBroken(
    `A value of ${table}.${column} does not open with --secrets-key: it was changed, moved, or sealed with another key.`,
  );
}
