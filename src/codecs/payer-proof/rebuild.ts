import { hex } from '@scure/base';
import type { Invalid } from '../bigsize.ts';
import { branchHash, leafHash } from '../bolt12/index.ts';
import type { Disclosure } from './disclosure.ts';
import { orderLeaves } from './markers.ts';
import { type Subtree, walkTree } from './tree.ts';

/**
 * Computes the merkle root of the invoice from the disclosed fields of a proof and its hashes for all others. Markers,
 * leaf hashes and missing hashes that do not fit the disclosed fields are invalid.
 */
export function rebuildInvoiceRoot(
  { disclosed, markers, missingHashes, leafHashes }: Disclosure,
  invalid: Invalid,
): Uint8Array {
  const order = orderLeaves(
    disclosed.map(({ type }) => type),
    markers,
    invalid,
  );
  if (leafHashes.length !== disclosed.length) {
    invalid(
      `proof_leaf_hashes holds ${leafHashes.length} hashes for ${disclosed.length} disclosed fields`,
    );
  }
  const nodes = disclosed
    .map((record, i) => branchHash(leafHash(record), hex.decode(leafHashes[i] ?? '')))
    .values();
  const leaves = order.map(({ isMarker }): Subtree<null> => {
    const node = isMarker ? undefined : nodes.next().value;
    return node === undefined ? { omitted: null } : { hash: node };
  });
  const hashes = missingHashes.values();
  const root = walkTree([{ omitted: null }, ...leaves], {
    join: () => null,
    hashOf: () =>
      hex.decode(hashes.next().value ?? invalid('proof_missing_hashes has too few hashes')),
  });
  if (hashes.next().done !== true) invalid('proof_missing_hashes has too many hashes');
  return root ?? invalid('it discloses no field');
}
