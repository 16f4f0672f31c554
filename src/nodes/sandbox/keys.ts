import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * What is derived from a 32-byte root seed: HKDF-SHA256 without salt, the label as info, 32 bytes (decisions
 * section 9). The labels never change: money hangs on them.
 *
 * | purpose | label |
 * |---|---|
 * | user key (ed25519), the wallet's identity | `wallet-sidecar/user` |
 * | Lightning node key (secp256k1) | `wallet-sidecar/lightning-node` |
 * | on-chain account, from which each output's key is derived | `wallet-sidecar/onchain-account` |
 */
const DERIVATION_LABELS = {
  user: 'wallet-sidecar/user',
  lightningNode: 'wallet-sidecar/lightning-node',
  onchainAccount: 'wallet-sidecar/onchain-account',
} as const;

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
    userPk: bytesToHex(ed25519.getPublicKey(derive(rootSeed, DERIVATION_LABELS.user))),
    nodePk: bytesToHex(secp256k1.getPublicKey(nodeSecretKey, true)),
    nodeSecretKey,
    onchainAccountKey: derive(rootSeed, DERIVATION_LABELS.onchainAccount),
  };
}

/** 32 bytes for one purpose. */
export function derive(secret: Uint8Array, label: string): Uint8Array {
  return hkdf(sha256, secret, undefined, utf8ToBytes(label), 32);
}
