import type { Invalid } from '../bigsize.ts';

/** The keys of an offer that its invoices may be signed with. */
export interface IssuerKeys {
  readonly issuerId: string | null;
  /** Used only where there is no `issuerId` (BOLT 12, reader of an invoice). */
  readonly pathsLastBlindedNodeIds: readonly string[];
}

/** Checks that a node id is one with which the invoices of an offer are signed (BOLT 12, reader of an invoice). */
export function requireIssuerKey(
  nodeId: string,
  { issuerId, pathsLastBlindedNodeIds }: IssuerKeys,
  invalid: Invalid,
): void {
  if (issuerId !== null) {
    if (nodeId !== issuerId) invalid('invoice_node_id is not the offer_issuer_id');
  } else if (!pathsLastBlindedNodeIds.includes(nodeId)) {
    invalid('invoice_node_id is not the end of any of offer_paths');
  }
}
