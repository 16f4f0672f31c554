export { findBinaries } from './binaries.ts';
export { describeNetwork } from './describe-network.ts';
export type { LndNode, LndProcess } from './lnd.ts';
export { LndRestError } from './lnd-rest.ts';
export { type Network, startNetwork } from './network.ts';
