import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
import { ed25519 } from '../../../lib/secrets/ed25519.ts';
import { DERIVATION_LABELS, derive } from '../../../model/root-seed.ts';

/** A wallet's keys. */
export interface SeedKeys {
  /** Hex ed25519 public key. */
  readonly userPk: string;
  /** Hex secp256k1 public key. */
  readonly nodePk: string;
  readonly nodeSecretKey: Uint8Array;
  readonly onchainAccountKey: Uint8Array;
}

/** Derives a wallet's keys from its root seed, as {@link DERIVATION_LABELS} says. */
export function keysOfSeed(rootSeed: Uint8Array): SeedKeys {
  const nodeSecretKey = derive(rootSeed, DERIVATION_LABELS.lightningNode);
  return {
    userPk: userPkOfSeed(rootSeed),
    nodePk: hex.encode(secp256k1.getPublicKey(nodeSecretKey, true)),
    nodeSecretKey,
    onchainAccountKey: onchainAccountKeyOfSeed(rootSeed),
  };
}

/** {@link SeedKeys.userPk} alone, which takes much less time than the others. */
export function userPkOfSeed(rootSeed: Uint8Array): string {
  return hex.encode(ed25519.publicKeyOf(derive(rootSeed, DERIVATION_LABELS.user)));
}

/** {@link SeedKeys.onchainAccountKey} alone. */
export function onchainAccountKeyOfSeed(rootSeed: Uint8Array): Uint8Array {
  return derive(rootSeed, DERIVATION_LABELS.onchainAccount);
}
