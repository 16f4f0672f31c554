export { type Binaries, findBinaries } from './binaries.ts';
export type { Btcd } from './btcd.ts';
export { describeNetwork } from './describe-network.ts';
export type { LndNode, LndProcess, LndState } from './lnd.ts';
export { LndRestError } from './lnd-rest.ts';
export { type Network, startNetwork } from './network.ts';
export { waitUntil } from './wait-until.ts';
