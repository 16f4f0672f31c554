import { utf8ToBytes } from '@noble/hashes/utils.js';
import { DERIVATION_LABELS, derive } from '../../model/root-seed.ts';

/** Derives the owner's key for sealed outcomes from the root seed (docs/decisions.md 53). */
export function rootSeal(rootSeed: Uint8Array): Uint8Array {
  return derive(rootSeed, DERIVATION_LABELS.sealedOutcomes);
}

/**
 * Derives a caller's key for sealed outcomes from the text of its credential: the configured token of the node for the
 * owner, the secret of a client. The store holds only a hash of that secret.
 */
export function sealOf(secret: string): Uint8Array {
  return rootSeal(utf8ToBytes(secret));
}
