import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { p2ms, p2tr, p2wpkh, p2wsh } from '@scure/btc-signer';

/** The purpose of an output's key: addresses for receiving, or change. */
export type Branch = 'receive' | 'change';

/** The kinds of output that one key can spend. */
export type SingleKeyKind = 'p2wpkh' | 'p2tr';

/**
 * Returns the secret key of an on-chain output: HKDF-SHA256 of the wallet's on-chain account key, no salt, info
 * `onchain/<branch>/<index>/<attempt>`. The attempt grows past bytes that are not a valid key, which practically never
 * occur.
 */
export function childSecretKey(accountKey: Uint8Array, branch: Branch, index: number): Uint8Array {
  for (let attempt = 0; ; attempt++) {
    const info = utf8ToBytes(`onchain/${branch}/${index}/${attempt}`);
    const key = hkdf(sha256, accountKey, undefined, info, 32);
    if (secp256k1.utils.isValidSecretKey(key)) return key;
  }
}

/** Returns the script that only this key can spend: P2WPKH (BIP 141) or P2TR by key path (BIP 341). */
export function singleKeyScript(kind: SingleKeyKind, secretKey: Uint8Array): Uint8Array {
  const publicKey = secp256k1.getPublicKey(secretKey, true);
  return kind === 'p2wpkh' ? p2wpkh(publicKey).script : p2tr(publicKey.subarray(1)).script;
}

/**
 * Scripts of each kind that no key can spend. A transaction weighs with them what it weighs with real ones, which take
 * much longer to make.
 */
export const SCRIPTS_TO_WEIGH: Readonly<Record<SingleKeyKind, Uint8Array>> = {
  p2wpkh: new Uint8Array([0x00, 20, ...new Uint8Array(20)]),
  p2tr: new Uint8Array([0x51, 32, ...new Uint8Array(32)]),
};

/** Returns the funding output of a channel, which both keys must sign to spend (BOLT 3; the lesser key comes first). */
export function multisigOutput(publicKeys: readonly [Uint8Array, Uint8Array]): {
  readonly script: Uint8Array;
  readonly witnessScript: Uint8Array;
} {
  const sorted = publicKeys.toSorted(Buffer.compare);
  const payment = p2wsh(p2ms(2, sorted));
  return { script: payment.script, witnessScript: payment.witnessScript };
}
