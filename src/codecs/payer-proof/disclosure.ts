import { hex } from '@scure/base';
import { branchHash, isSignatureType, leafHash, nonceHashes } from '../bolt12/index.ts';
import type { TlvRecord } from '../tlv.ts';
import { nextMarker } from './markers.ts';
import { type Subtree, walkTree } from './tree.ts';

/** The parts of a proof that concern the fields it discloses and those it omits. */
export interface Disclosure {
  /** The disclosed records, ascending. */
  readonly disclosed: readonly TlvRecord[];
  /** `proof_omitted_tlvs`: one for each omitted record except the first. */
  readonly markers: readonly bigint[];
  /** `proof_missing_hashes`, hex. */
  readonly missingHashes: readonly string[];
  /** `proof_leaf_hashes`, hex: one for each disclosed record. */
  readonly leafHashes: readonly string[];
}

/**
 * Splits an invoice's records into those that `isDisclosed` selects and hashes for all others. The first record is
 * `invreq_metadata`, which always stays secret.
 */
export function discloseRecords(
  [metadata, ...records]: readonly [TlvRecord, ...TlvRecord[]],
  isDisclosed: (type: bigint) => boolean,
): Disclosure {
  const nonceHash = nonceHashes(metadata);
  const nodeOf = (record: TlvRecord) => branchHash(leafHash(record), nonceHash(record.type));
  const disclosed: TlvRecord[] = [];
  const markers: bigint[] = [];
  const leafHashes: string[] = [];
  const missingHashes: string[] = [];
  const leaves: Subtree<Uint8Array>[] = [];
  let previous = 0n;
  for (const record of records.filter(({ type }) => !isSignatureType(type))) {
    if (isDisclosed(record.type)) {
      disclosed.push(record);
      leafHashes.push(hex.encode(nonceHash(record.type)));
      leaves.push({ hash: nodeOf(record) });
      previous = record.type;
    } else {
      previous = nextMarker(previous);
      markers.push(previous);
      leaves.push({ omitted: nodeOf(record) });
    }
  }
  walkTree([{ omitted: nodeOf(metadata) }, ...leaves], {
    join: branchHash,
    hashOf: (hash) => {
      missingHashes.push(hex.encode(hash));
      return hash;
    },
  });
  return { disclosed, markers, missingHashes, leafHashes };
}
