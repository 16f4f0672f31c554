/** The names of all kinds of nodes, as used in credentials, clients and errors. */
const NODE_KINDS = ['sandbox', 'lnd', 'cln', 'ldk'] as const;

/** The name of a kind of node. */
export type NodeKind = (typeof NODE_KINDS)[number];

/** A kind of node that holds real coins. */
export type RealKind = Exclude<NodeKind, 'sandbox'>;

/** A kind of node that runs by itself, at a location that configuration names. */
export type RemoteKind = Exclude<RealKind, 'ldk'>;

/** The kinds of nodes that run by themselves. */
export const REMOTE_KINDS: readonly RemoteKind[] = ['lnd', 'cln'];
