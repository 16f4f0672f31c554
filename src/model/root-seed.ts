import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

/**
 * The labels of all secrets that are derived from a 32-byte root seed. Each is 32 bytes of HKDF-SHA256 without salt,
 * with the label as info. The labels never change: another label gives another key, which cannot spend the wallet's
 * money (docs/decisions.md 8).
 *
 * | purpose | label |
 * |---|---|
 * | sandbox: user key (ed25519), the wallet's identity | `wallet-sidecar/user` |
 * | sandbox: Lightning node key (secp256k1) | `wallet-sidecar/lightning-node` |
 * | sandbox: on-chain account, from which each output's key is derived | `wallet-sidecar/onchain-account` |
 * | LND: seed of its extended master key (BIP 32) | `wallet-sidecar/lnd-master` |
 * | LND: password of its wallet file | `wallet-sidecar/lnd-password` |
 * | LND: root key of its macaroons | `wallet-sidecar/lnd-macaroons` |
 * | LDK: seed of the node, 64 bytes, with `/<network>` after the label | `wallet-sidecar/ldk-node` |
 * | the owner's sealed outcomes; of other credentials, from their text | `wallet-sidecar/sealed-outcomes` |
 */
export const DERIVATION_LABELS = {
  user: 'wallet-sidecar/user',
  lightningNode: 'wallet-sidecar/lightning-node',
  onchainAccount: 'wallet-sidecar/onchain-account',
  lndMaster: 'wallet-sidecar/lnd-master',
  lndPassword: 'wallet-sidecar/lnd-password',
  lndMacaroons: 'wallet-sidecar/lnd-macaroons',
  ldkNode: 'wallet-sidecar/ldk-node',
  sealedOutcomes: 'wallet-sidecar/sealed-outcomes',
} as const;

/** Derives 32 bytes from a secret for one purpose (docs/decisions.md 8). */
export function derive(secret: Uint8Array, label: string): Uint8Array {
  return hkdf(sha256, secret, undefined, utf8ToBytes(label), 32);
}

/** The size of a root seed in bytes. */
export const ROOT_SEED_BYTES = 32;

/**
 * Reads a root seed: 64 hex characters, or a 24-word BIP 39 phrase whose entropy is the seed (docs/decisions.md 8).
 * Returns null for any other text, without saying what is wrong with it, since it may be almost a seed.
 */
export function parseRootSeed(text: string): Uint8Array | null {
  const trimmed = text.trim();
  if (/^[0-9a-fA-F]{64}$/.test(trimmed)) return hex.decode(trimmed.toLowerCase());
  const words = trimmed.toLowerCase().split(/\s+/);
  if (words.length !== 24) return null;
  try {
    return mnemonicToEntropy(words.join(' '), wordlist);
  } catch {
    return null;
  }
}

/** Returns the 24-word BIP 39 phrase whose entropy is the seed. */
export function rootSeedPhrase(rootSeed: Uint8Array): string {
  return entropyToMnemonic(rootSeed, wordlist);
}
