import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, hex } from '@scure/base';
import { invalid, signedBytes } from './invoice.ts';
import { isByOwnKey } from './own-key.ts';

/** The signed parts of an invoice, its signature, and the payee that it names. */
export interface Signed {
  /** Human-readable part. */
  readonly prefix: string;
  /** Words of timestamp and fields. */
  readonly data: readonly number[];
  readonly signature: readonly number[];
  /** The key in field `n`, hex; undefined without that field. */
  readonly named: string | undefined;
}

/**
 * Returns the key that signed, in hex. If the invoice names its payee, the signature must be by that key and in low-S
 * form. Otherwise the key is recovered, from high-S signatures too (BOLT 11, reader requirements). `ownKey` is the key
 * that it most likely is, which makes no difference but in time. Throws CodecError('bolt11').
 */
export function checkPayee(
  { prefix, data, signature, named }: Signed,
  ownKey: string | null,
): string {
  const bytes = bech32.fromWordsUnsafe([...signature]);
  const recovery = bytes?.[64];
  if (!bytes || recovery === undefined || recovery > 3) invalid('its signature is malformed');
  const compact = bytes.subarray(0, 64);
  const digest = sha256(signedBytes(prefix, data));
  if (named === undefined) {
    const isOwn = ownKey !== null && isByOwnKey(ownKey, compact, recovery, digest);
    return isOwn ? ownKey : recover(compact, recovery, digest);
  }
  if (!isSignedBy(named, compact, digest)) invalid('its signature is not by the payee it names');
  return named;
}

function recover(compact: Uint8Array, recovery: number, digest: Uint8Array): string {
  try {
    return secp256k1.Signature.fromBytes(compact, 'compact')
      .addRecoveryBit(recovery)
      .recoverPublicKey(digest)
      .toHex(true);
  } catch {
    return invalid('its signature does not fit any key');
  }
}

/** Whether the payee signed. False also when `payee` is not a key, and when the signature is not in low-S form. */
function isSignedBy(payee: string, compact: Uint8Array, digest: Uint8Array): boolean {
  try {
    return secp256k1.verify(compact, digest, hex.decode(payee), { prehash: false, lowS: true });
  } catch {
    return false;
  }
}
