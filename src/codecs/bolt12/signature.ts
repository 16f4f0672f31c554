import { schnorr } from '@noble/curves/secp256k1.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { taggedHash } from './merkle.ts';

/** What a BOLT 12 signature is about: the message's name and the signed field's name in the specification. */
export interface SignatureSubject {
  readonly message: 'invoice_request' | 'invoice' | 'payer_proof';
  readonly field: 'signature' | 'proof_signature';
}

/** What every writer of signatures takes to make them. */
export interface Signer {
  /** 32-byte secret key. */
  readonly secretKey: Uint8Array;
  /**
   * 32 bytes of fresh randomness for BIP 340, which hardens the signer against leaks through power or timing.
   * Left out, zeros are used, and equal inputs give equal signatures.
   */
  readonly auxRand?: Uint8Array | undefined;
}

function digest({ message, field }: SignatureSubject, root: Uint8Array): Uint8Array {
  return taggedHash(utf8ToBytes(`lightning${message}${field}`))(root);
}

/** Signs a merkle root as BOLT 12's "Signature Calculation" says; 64 bytes as hex. */
export function signRoot(subject: SignatureSubject, root: Uint8Array, signer: Signer): string {
  const auxRand = signer.auxRand ?? new Uint8Array(32);
  return hex.encode(schnorr.sign(digest(subject, root), signer.secretKey, auxRand));
}

/** Whether `signature` (64 bytes, hex) is a signature of the root by `publicKey` (33 bytes compressed, hex). */
export function isRootSignature(
  subject: SignatureSubject,
  root: Uint8Array,
  signature: string,
  publicKey: string,
): boolean {
  // BIP 340 keys have no parity byte.
  const key = hex.decode(publicKey).subarray(1);
  return schnorr.verify(hex.decode(signature), digest(subject, root), key);
}
