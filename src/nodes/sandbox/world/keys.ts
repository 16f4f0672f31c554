import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hex } from '@scure/base';
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
    userPk: hex.encode(ed25519.getPublicKey(derive(rootSeed, DERIVATION_LABELS.user))),
    nodePk: hex.encode(secp256k1.getPublicKey(nodeSecretKey, true)),
    nodeSecretKey,
    onchainAccountKey: derive(rootSeed, DERIVATION_LABELS.onchainAccount),
  };
}
