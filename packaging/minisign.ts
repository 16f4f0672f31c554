import { ed25519 } from '@noble/curves/ed25519.js';
import { blake2b } from '@noble/hashes/blake2.js';
import { base64 } from '@scure/base';

/*
 * Keys and signatures in the form of minisign (https://jedisct1.github.io/minisign/#signature-format), so that a release
 * can be checked with that program, and a release key be made with it. Signatures are over the file's BLAKE2b-512.
 */

/** A key pair of a release. */
export interface SigningKey {
  readonly id: Uint8Array;
  readonly secret: Uint8Array;
  readonly public: PublicKey;
}

/** The part of a key that stands in the repository and in `install.sh`. */
export interface PublicKey {
  readonly id: Uint8Array;
  readonly key: Uint8Array;
}

const KEY_ALGORITHM = 'Ed';
const PREHASHED_ALGORITHM = 'ED';
const CHECKSUM_ALGORITHM = 'B2';
const ID_SIZE = 8;
const SALT_AND_LIMITS_SIZE = 48;

/** Makes a key from 40 random bytes: its id and its seed. */
export function signingKeyFrom(random: Uint8Array): SigningKey {
  if (random.length !== ID_SIZE + 32) throw new Error('A release key is made from 40 bytes.');
  const id = random.slice(0, ID_SIZE);
  const secret = random.slice(ID_SIZE);
  return { id, secret, public: { id, key: ed25519.getPublicKey(secret) } };
}

/** Writes a public key as minisign's file for one. */
export function publicKeyFile(key: PublicKey): string {
  return `untrusted comment: minisign public key ${idText(key.id)}\n${publicKeyText(key)}\n`;
}

/** Writes a public key as the text that `minisign -P` takes. */
export function publicKeyText({ id, key }: PublicKey): string {
  return base64.encode(Buffer.concat([Buffer.from(KEY_ALGORITHM), id, key]));
}

/** Reads minisign's file of a public key. Throws if it is none. */
export function readPublicKey(file: string): PublicKey {
  const bytes = decoded(file.trim().split('\n')[1]);
  if (bytes?.length !== 42 || text(bytes, 0, 2) !== KEY_ALGORITHM)
    throw new Error('This is not the file of a minisign public key.');
  return { id: bytes.slice(2, 10), key: bytes.slice(10) };
}

/** Writes a key pair as the second line of minisign's file for a secret key without a password (`minisign -G -W`). */
export function secretKeyText({ id, secret, public: { key } }: SigningKey): string {
  const signed = Buffer.concat([id, secret, key]);
  return base64.encode(
    Buffer.concat([
      Buffer.from(KEY_ALGORITHM),
      Buffer.alloc(2),
      Buffer.from(CHECKSUM_ALGORITHM),
      Buffer.alloc(SALT_AND_LIMITS_SIZE),
      signed,
      keyChecksum(signed),
    ]),
  );
}

/** Reads what {@link secretKeyText} writes. Throws, without naming any of it, if it is something else. */
export function readSecretKey(line: string): SigningKey {
  const bytes = decoded(line.trim());
  const start = 6 + SALT_AND_LIMITS_SIZE;
  const signed = bytes?.slice(start, start + 72);
  if (
    bytes?.length !== start + 72 + 32 ||
    signed === undefined ||
    text(bytes, 0, 6) !== `${KEY_ALGORITHM}\0\0${CHECKSUM_ALGORITHM}`
  )
    throw new Error('This is not a minisign secret key without a password.');
  // Some programs leave the checksum out, so that what is compared is the public half.
  const key = signingKeyFrom(signed.slice(0, 40));
  if (!Buffer.from(key.public.key).equals(signed.slice(40)))
    throw new Error('The two halves of this minisign key do not fit each other.');
  return key;
}

/** Signs a file. The comment is signed too, and stands in the signature; it has one line. */
export function signed(file: Uint8Array, comment: string, key: SigningKey): string {
  const signature = ed25519.sign(blake2b(file), key.secret);
  const line = Buffer.concat([Buffer.from(PREHASHED_ALGORITHM), key.id, signature]);
  const whole = ed25519.sign(Buffer.concat([signature, Buffer.from(comment)]), key.secret);
  return [
    `untrusted comment: signature from minisign secret key ${idText(key.id)}`,
    base64.encode(line),
    `trusted comment: ${comment}`,
    base64.encode(whole),
    '',
  ].join('\n');
}

/** Returns a signature's trusted comment where it is one of this key over the file; otherwise null. */
export function verified(file: Uint8Array, signature: string, key: PublicKey): string | null {
  const [, line, commentLine = '', wholeLine] = signature.split('\n');
  const bytes = decoded(line);
  const whole = decoded(wholeLine);
  const comment = /^trusted comment: (.*)$/.exec(commentLine)?.[1];
  if (bytes?.length !== 74 || whole?.length !== 64 || comment === undefined) return null;
  if (text(bytes, 0, 2) !== PREHASHED_ALGORITHM) return null;
  if (!Buffer.from(key.id).equals(bytes.slice(2, 10))) return null;
  const own = bytes.slice(10);
  const holds =
    ed25519.verify(own, blake2b(file), key.key) &&
    ed25519.verify(whole, Buffer.concat([own, Buffer.from(comment)]), key.key);
  return holds ? comment : null;
}

/** The key's id as minisign shows it: little-endian. */
function idText(id: Uint8Array): string {
  return Buffer.from(id.toReversed()).toString('hex').toUpperCase();
}

function keyChecksum(signedBytes: Uint8Array): Uint8Array {
  return blake2b(Buffer.concat([Buffer.from(KEY_ALGORITHM), signedBytes]), { dkLen: 32 });
}

function decoded(line: string | undefined): Uint8Array | null {
  try {
    return base64.decode(line ?? '');
  } catch {
    return null;
  }
}

function text(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.slice(start, end)).toString('latin1');
}
