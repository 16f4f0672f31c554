import { createHash } from 'node:crypto';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { once } from '../../lib/once.ts';
import { encodeBigSize } from '../bigsize.ts';
import { encodeTlvRecord, type TlvRecord } from '../tlv.ts';
import { isSignatureType } from './ranges.ts';

/** Hashes messages under one tag: `H(tag, msg) = SHA256(SHA256(tag) || SHA256(tag) || msg)`. */
type TaggedHash = (...parts: readonly Uint8Array[]) => Uint8Array;

/** Returns the tagged hash of BIP 340. The state after the tag is kept, so that the tag is hashed only once. */
export function taggedHash(tag: Uint8Array): TaggedHash {
  const tagHash = createHash('sha256').update(tag).digest();
  const start = createHash('sha256').update(tagHash).update(tagHash);
  return (...parts) => {
    const tagged = start.copy();
    for (const part of parts) tagged.update(part);
    // A plain array, since a Buffer behaves otherwise (`slice`).
    return new Uint8Array(tagged.digest());
  };
}

const leafTag = once(() => taggedHash(utf8ToBytes('LnLeaf')));
const branchTag = once(() => taggedHash(utf8ToBytes('LnBranch')));

/** Returns `H("LnLeaf", record bytes)`: the half of a leaf that depends on the field's value. */
export function leafHash(record: TlvRecord): Uint8Array {
  return leafTag()(encodeTlvRecord(record));
}

/**
 * Returns a function from a field's type to the other half of its leaf: `H("LnNonce" || first record, type)`. This
 * half prevents guessing the fields beside a disclosed one. `first` is the record with the lowest type.
 */
export function nonceHashes(first: TlvRecord): (type: bigint) => Uint8Array {
  const hash = taggedHash(concatBytes(utf8ToBytes('LnNonce'), encodeTlvRecord(first)));
  return (type) => hash(encodeBigSize(type));
}

/** Returns `H("LnBranch", lesser || greater)`. */
export function branchHash(a: Uint8Array, b: Uint8Array): Uint8Array {
  return Buffer.compare(a, b) < 0 ? branchTag()(a, b) : branchTag()(b, a);
}

/**
 * Joins leaves in the shape of BOLT 12's trees: n leaves are split at the largest power of two below n, so that the
 * lowest types are deepest. `join` is called for the left subtree first, then for the right one, then for their
 * parent; the order of hashes in payer proofs depends on that.
 */
export function foldTree<T>(leaves: readonly [T, ...T[]], join: (left: T, right: T) => T): T {
  // Two complete subtrees of equal height are joined at once, like a carry in a binary counter.
  const whole: { node: T; height: number }[] = [];
  for (const leaf of leaves) {
    let node = leaf;
    let height = 0;
    for (let left = whole.at(-1); left?.height === height; left = whole.at(-1)) {
      whole.pop();
      node = join(left.node, node);
      height += 1;
    }
    whole.push({ node, height });
  }
  return whole.map(({ node }) => node).reduceRight((right, left) => join(left, right));
}

/**
 * Returns the merkle root of a stream's records, 32 bytes. The records must be in ascending order; signature fields
 * are skipped. Null when no record is left, since such a stream has no root.
 */
export function merkleRoot(records: readonly TlvRecord[]): Uint8Array | null {
  const [first] = records;
  if (first === undefined) return null;
  const nonceHash = nonceHashes(first);
  const [leaf, ...leaves] = records
    .filter(({ type }) => !isSignatureType(type))
    .map((record) => branchHash(leafHash(record), nonceHash(record.type)));
  return leaf === undefined ? null : foldTree([leaf, ...leaves], branchHash);
}
