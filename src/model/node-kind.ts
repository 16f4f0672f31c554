/** The names of all kinds of nodes, as used in credentials, clients and errors. */
const NODE_KINDS = ['sandbox', 'lnd', 'cln'] as const;

/** The name of a kind of node. */
export type NodeKind = (typeof NODE_KINDS)[number];

/** A kind of node that runs outside this program, at a location that configuration names. */
export type RemoteKind = Exclude<NodeKind, 'sandbox'>;

/** The kinds of nodes that run outside this program. */
export const REMOTE_KINDS: readonly RemoteKind[] = NODE_KINDS.filter((kind) => kind !== 'sandbox');
