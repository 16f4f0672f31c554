import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberBE } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32, hex } from '@scure/base';
import { invalid, signedBytes } from './invoice.ts';

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

type Key = ReturnType<typeof secp256k1.Point.fromHex>;

/** Keys that are remembered, the one that was used last at the end. A table takes some 200 kB. */
const keys = new Map<string, { readonly key: Key; uses: number }>();
const MOST_KEYS = 16;
/** Making a table takes as long as it saves with 20 invoices. */
const USES_BEFORE_TABLE = 8;
const TABLE_WINDOW = 5;

/**
 * Whether a signature with its recovery id (0 to 3) is by this key, hex, so that the same key would be recovered from
 * it. For a wallet's own key, whose multiples are in a table, that takes half the time (docs/decisions.md 207). False
 * also while there is no table of the key.
 */
export function isByOwnKey(
  ownKey: string,
  compact: Uint8Array,
  recovery: number,
  digest: Uint8Array,
): boolean {
  const { Point, Signature } = secp256k1;
  try {
    const known = keys.get(ownKey) ?? { key: Point.fromHex(ownKey), uses: 0 };
    keys.delete(ownKey);
    keys.set(ownKey, known);
    const [oldest] = keys.keys();
    if (keys.size > MOST_KEYS && oldest !== undefined) keys.delete(oldest);
    known.uses += 1;
    if (known.uses <= USES_BEFORE_TABLE) return false;
    if (known.uses === USES_BEFORE_TABLE + 1) known.key.precompute(TABLE_WINDOW, false);
    const { r, s } = Signature.fromBytes(compact, 'compact');
    const { Fn } = Point;
    const inverse = Fn.inv(s);
    const u1 = Fn.mul(Fn.create(bytesToNumberBE(digest)), inverse);
    const u2 = Fn.mul(r, inverse);
    // The point that was signed with. A key is recovered from it, so all of it counts, and not its x modulo n alone.
    const { x, y } = Point.BASE.multiplyUnsafe(u1).add(known.key.multiplyUnsafe(u2)).toAffine();
    return x === (recovery > 1 ? r + Fn.ORDER : r) && (y & 1n) === BigInt(recovery & 1);
  } catch {
    return false;
  }
}
