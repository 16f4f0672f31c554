import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { base64urlnopad } from '@scure/base';
import type { Dnskey } from '../../codecs/dns/index.ts';

/** A public key as JSON (RFC 7517). */
type JsonWebKey = Readonly<Record<string, string>>;

interface Algorithm {
  /** Null: the algorithm hashes by itself. */
  readonly hash: 'sha256' | 'sha384' | 'sha512' | null;
  /** Reads a key; null for bytes that are not a key. */
  readonly keyOf: (bytes: Uint8Array) => JsonWebKey | null;
}

/** The algorithms that are trusted (RFC 8624); those with SHA-1 and MD5 are left out. */
const ALGORITHMS: ReadonlyMap<number, Algorithm> = new Map([
  [8, { hash: 'sha256', keyOf: rsaKey }],
  [10, { hash: 'sha512', keyOf: rsaKey }],
  [13, { hash: 'sha256', keyOf: pointOn('P-256', 32) }],
  [14, { hash: 'sha384', keyOf: pointOn('P-384', 48) }],
  [15, { hash: null, keyOf: ed25519Key }],
]);
const SHA1_ALGORITHMS: ReadonlySet<number> = new Set([3, 5, 6, 7]);
const MIN_RSA_BITS = 1024;
/** Longer keys are not used (RFC 3110), and their signatures take long to check. */
const MAX_RSA_BITS = 4096;
const MAX_EXPONENT_BYTES = 5;
const ZONE_PROTOCOL = 3;

/** Returns why signatures of an algorithm prove nothing; null for an algorithm that is trusted. */
export function algorithmObstacle(algorithm: number): string | null {
  return ALGORITHMS.has(algorithm) ? null : distrustOf(algorithm);
}

function distrustOf(algorithm: number): string {
  return SHA1_ALGORITHMS.has(algorithm)
    ? 'is signed with SHA-1, which is no longer safe'
    : 'is signed in a way that this wallet does not know';
}

/** Why a signature proves nothing, as the rest of a sentence; null when the key may sign its zone and did. */
export function signatureProblem(
  key: Dnskey,
  message: Uint8Array,
  signature: Uint8Array,
): string | null {
  if (!key.isZoneKey || key.isRevoked || key.protocol !== ZONE_PROTOCOL) {
    return 'is signed with a key that may not sign it';
  }
  const algorithm = ALGORITHMS.get(key.algorithm);
  if (algorithm === undefined) return distrustOf(key.algorithm);
  if (algorithm.keyOf === rsaKey && isShortRsaKey(key.publicKey)) {
    return `is signed with a key of less than ${MIN_RSA_BITS} bits, which is no longer safe`;
  }
  const publicKey = keyObject(algorithm, key.publicKey);
  if (publicKey === null) return 'is signed with a key that cannot be read';
  const options = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  return verify(algorithm.hash, message, options, signature)
    ? null
    : 'has a DNSSEC signature that is wrong: it may be forged';
}

function keyObject({ keyOf }: Algorithm, bytes: Uint8Array): KeyObject | null {
  const key = keyOf(bytes);
  if (key === null) return null;
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch {
    // The bytes are not a point of the curve.
    return null;
  }
}

/** Reads the format of RFC 3110. */
function readRsaKey(bytes: Uint8Array) {
  const [first = 0, second = 0, third = 0] = bytes;
  const [start, length] = first === 0 ? [3, second * 256 + third] : [1, first];
  return {
    exponent: bytes.subarray(start, start + length),
    modulus: bytes.subarray(start + length),
  };
}

function isShortRsaKey(bytes: Uint8Array): boolean {
  return bitLength(readRsaKey(bytes).modulus) < MIN_RSA_BITS;
}

function rsaKey(bytes: Uint8Array): JsonWebKey | null {
  const { exponent, modulus } = readRsaKey(bytes);
  if (isShortRsaKey(bytes) || bitLength(modulus) > MAX_RSA_BITS) return null;
  const value = exponent.reduce((sum, byte) => sum * 256 + byte, 0);
  if (exponent.length > MAX_EXPONENT_BYTES || value < 3 || value % 2 === 0) return null;
  return { kty: 'RSA', n: base64urlnopad.encode(modulus), e: base64urlnopad.encode(exponent) };
}

function bitLength(number: Uint8Array): number {
  const first = number.findIndex((byte) => byte !== 0);
  return first === -1 ? 0 : (number.length - first) * 8 - Math.clz32(number[first] ?? 0) + 24;
}

/** Returns a reader of the key format of RFC 6605. */
function pointOn(curve: string, size: number): Algorithm['keyOf'] {
  return (bytes) =>
    bytes.length === 2 * size
      ? {
          kty: 'EC',
          crv: curve,
          x: base64urlnopad.encode(bytes.subarray(0, size)),
          y: base64urlnopad.encode(bytes.subarray(size)),
        }
      : null;
}

/** Reads the key format of RFC 8080. */
function ed25519Key(bytes: Uint8Array): JsonWebKey | null {
  return bytes.length === 32
    ? { kty: 'OKP', crv: 'Ed25519', x: base64urlnopad.encode(bytes) }
    : null;
}
