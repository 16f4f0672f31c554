import { branchHash, foldTree } from '../bolt12/index.ts';

/** A subtree of an invoice's merkle tree: with a disclosed field in it and so a hash, or with none. */
export type Subtree<O> = { readonly hash: Uint8Array } | { readonly omitted: O };

/** What writer and reader do differently: how they carry an omitted subtree, and how they come by its hash. */
export interface OmittedSubtrees<O> {
  /** Two omitted neighbours become one omitted subtree. */
  join(left: O, right: O): O;
  /** Called, in the order of `proof_missing_hashes`, for each omitted subtree beside a disclosed one. */
  hashOf(omitted: O): Uint8Array;
}

/**
 * The one walk over an invoice's tree that the writer of a proof (which collects the missing hashes) and its
 * reader (which uses them up) share, so that they cannot disagree about their order. Gives the root, or null when
 * no leaf is disclosed.
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
