import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';

/** Derives the owner's key for sealed outcomes from the root seed (docs/decisions.md 53). */
export function rootSeal(rootSeed: Uint8Array): Uint8Array {
  return sealKey(rootSeed);
}

/** Derives the owner's key for sealed outcomes from the configured token of the node. */
export function configuredSeal(token: string): Uint8Array {
  return sealKey(utf8ToBytes(token));
}

/** Derives a client's key for sealed outcomes from its secret. The store holds only a hash of that secret. */
export function clientSeal(secret: string): Uint8Array {
  return sealKey(utf8ToBytes(secret));
}

function sealKey(secret: Uint8Array): Uint8Array {
  return hkdf(sha256, secret, undefined, utf8ToBytes('wallet-sidecar/sealed-outcomes'), 32);
}
