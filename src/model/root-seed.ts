import { hex } from '@scure/base';
import { entropyToMnemonic, mnemonicToEntropy } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

/** Bytes of a root seed. */
export const ROOT_SEED_BYTES = 32;

/**
 * Reads a root seed: 64 hex characters, or a 24-word BIP 39 phrase whose entropy is the seed (decisions section 1).
 * Null when the text is neither; never says which part is wrong.
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

/** The 24-word BIP 39 phrase whose entropy is the seed. */
export function rootSeedPhrase(rootSeed: Uint8Array): string {
  return entropyToMnemonic(rootSeed, wordlist);
}
