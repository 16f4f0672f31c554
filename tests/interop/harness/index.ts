export { findBinaries, findClnBinaries } from './binaries.ts';
export type { ClnNode } from './cln.ts';
export { type ClnNetwork, startClnNetwork } from './cln-network.ts';
export type { ClnPartsNetwork } from './cln-parts-network.ts';
export { ClnRpcError } from './cln-rpc.ts';
export {
  describeClnNetwork,
  describeClnPartsNetwork,
  describeMixedNetwork,
  describeNetwork,
} from './describe-network.ts';
export type { LndDatabase, LndNode, LndProcess } from './lnd.ts';
export { LndRestError } from './lnd-rest.ts';
export { type MixedNetwork, startMixedNetwork } from './mixed-network.ts';
export { type Network, startNetwork } from './network.ts';
