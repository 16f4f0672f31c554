/** Every kind of node by the name that credentials, clients and errors carry. */
const NODE_KINDS = ['sandbox', 'lnd'] as const;

/** The name of a kind of node. */
export type NodeKind = (typeof NODE_KINDS)[number];

/** A kind that runs outside this program: `connect` and configuration say where. */
export type RemoteKind = Exclude<NodeKind, 'sandbox'>;

/** The kinds that run outside this program. */
export const REMOTE_KINDS: readonly RemoteKind[] = NODE_KINDS.filter((kind) => kind !== 'sandbox');
