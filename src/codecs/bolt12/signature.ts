import { schnorr } from '@noble/curves/secp256k1.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { taggedHash } from './merkle.ts';

/** The subject of a BOLT 12 signature: the names of the message and of the signature's field in the specification. */
interface SignatureSubject {
  readonly message: 'invoice_request' | 'invoice' | 'payer_proof';
  readonly field: 'signature' | 'proof_signature';
}

interface Signer {
  /** 32-byte secret key. */
  readonly secretKey: Uint8Array;
  /**
   * 32 fresh random bytes for BIP 340, which protect the key from measurements of power or time. If they are left out,
   * zeros are used, and equal inputs give equal signatures.
   */
  readonly auxRand?: Uint8Array | undefined;
}

function digest({ message, field }: SignatureSubject, root: Uint8Array): Uint8Array {
  return taggedHash(utf8ToBytes(`lightning${message}${field}`))(root);
}

/** Signs a merkle root (BOLT 12, "Signature Calculation"). Returns the signature: 64 bytes as hex. */
export function signRoot(subject: SignatureSubject, root: Uint8Array, signer: Signer): string {
  const auxRand = signer.auxRand ?? new Uint8Array(32);
  return hex.encode(schnorr.sign(digest(subject, root), signer.secretKey, auxRand));
}

/** Returns whether `signature` (64 bytes, hex) is a signature of the root by `publicKey` (33 bytes compressed, hex). */
export function isRootSignature(
  subject: SignatureSubject,
  root: Uint8Array,
  signature: string,
  publicKey: string,
): boolean {
  // Keys of BIP 340 have no parity byte.
  const key = hex.decode(publicKey).subarray(1);
  return schnorr.verify(hex.decode(signature), digest(subject, root), key);
}
