import type { Invalid } from '../bigsize.ts';
import { isDisclosableType } from './fields.ts';

/** The first type of the experimental ranges, and the only marker that may follow 239 directly. */
const FIRST_EXPERIMENTAL_TYPE = 1_000_000_000n;

/**
 * Returns the marker of an omitted field that follows `previous`: the next number that is the type of an invoice field.
 * Markers show the order of the fields and hide their types.
 */
export function nextMarker(previous: bigint): bigint {
  const next = previous + 1n;
  return isDisclosableType(next) || next > FIRST_EXPERIMENTAL_TYPE ? next : FIRST_EXPERIMENTAL_TYPE;
}

/** One leaf of an invoice's tree in a proof: the type of a disclosed field, or a marker. */
interface ProofLeaf {
  readonly number: bigint;
  readonly isMarker: boolean;
}

/**
 * Sorts the disclosed types and the markers of a proof in the order of the invoice's fields. Both lists are in the
 * order of the proof, the types ascending. Only the markers that the rules give are valid, so that a tree can be
 * described in one way only.
 */
export function orderLeaves(
  disclosedTypes: readonly bigint[],
  markers: readonly bigint[],
  invalid: Invalid,
): ProofLeaf[] {
  const leaves: ProofLeaf[] = [];
  let next = 0;
  let neighbour = 0n;
  let previousMarker = 0n;
  const discloseBelow = (limit: bigint | null) => {
    for (let type = disclosedTypes[next]; type !== undefined; type = disclosedTypes[++next]) {
      if (limit !== null && type >= limit) return;
      leaves.push({ number: type, isMarker: false });
      neighbour = type;
    }
  };
  for (const marker of markers) {
    if (marker === 0n) invalid('proof_omitted_tlvs contains 0, which must be left out');
    if (marker <= previousMarker) invalid('proof_omitted_tlvs is not in ascending order');
    if (!isDisclosableType(marker)) {
      invalid(`proof_omitted_tlvs contains ${marker}, which is not the type of an invoice field`);
    }
    discloseBelow(marker);
    if (disclosedTypes[next] === marker) {
      invalid(`proof_omitted_tlvs contains ${marker}, which is disclosed`);
    }
    if (marker !== nextMarker(neighbour)) {
      invalid(`proof_omitted_tlvs contains ${marker} where ${nextMarker(neighbour)} is expected`);
    }
    leaves.push({ number: marker, isMarker: true });
    neighbour = marker;
    previousMarker = marker;
  }
  discloseBelow(null);
  return leaves;
}
