import type { Invalid } from '../bigsize.ts';

/** The keys of an offer that its invoices may be signed with. */
interface IssuerKeys {
  readonly issuerId: string | null;
  /** Used only where there is no `issuerId` (BOLT 12, reader of an invoice). */
  readonly pathsLastBlindedNodeIds: readonly string[];
}

/** Whether invoices of an offer are signed with that node id: its `issuerId`, else the end of one of its paths. */
export function isIssuerKey(
  nodeId: string,
  { issuerId, pathsLastBlindedNodeIds }: IssuerKeys,
): boolean {
  return issuerId === null ? pathsLastBlindedNodeIds.includes(nodeId) : nodeId === issuerId;
}

/** Checks that a node id is one with which the invoices of an offer are signed (BOLT 12, reader of an invoice). */
export function requireIssuerKey(nodeId: string, keys: IssuerKeys, invalid: Invalid): void {
  if (isIssuerKey(nodeId, keys)) return;
  invalid(
    keys.issuerId === null
      ? 'invoice_node_id is not the end of any of offer_paths'
      : 'invoice_node_id is not the offer_issuer_id',
  );
}
