import { branchHash, foldTree } from '../bolt12/index.ts';

/** A subtree of an invoice's merkle tree: `hash` if it has a disclosed field, `omitted` if it has none. */
export type Subtree<O> = { readonly hash: Uint8Array } | { readonly omitted: O };

/** How omitted subtrees are represented and hashed, which differs between writer and reader of a proof. */
interface OmittedSubtrees<O> {
  /** Joins two omitted neighbours into one omitted subtree. */
  join(left: O, right: O): O;
  /** Returns the hash of an omitted subtree beside a disclosed one. Called in the order of `proof_missing_hashes`. */
  hashOf(omitted: O): Uint8Array;
}

/**
 * Walks over an invoice's tree. Returns the root, or null when no leaf is disclosed. The writer of a proof, which
 * collects the missing hashes, and its reader, which uses them, share this walk, so that they agree on their order.
 */
export function walkTree<O>(
  leaves: readonly [Subtree<O>, ...Subtree<O>[]],
  omitted: OmittedSubtrees<O>,
): Uint8Array | null {
  const root = foldTree(leaves, (left, right): Subtree<O> => {
    if ('omitted' in left && 'omitted' in right) {
      return { omitted: omitted.join(left.omitted, right.omitted) };
    }
    const leftHash = 'omitted' in left ? omitted.hashOf(left.omitted) : left.hash;
    const rightHash = 'omitted' in right ? omitted.hashOf(right.omitted) : right.hash;
    return { hash: branchHash(leftHash, rightHash) };
  });
  return 'omitted' in root ? null : root.hash;
}
