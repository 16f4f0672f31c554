// The front door of the node port: other folders import all of it from here.
export type * from './connector.ts';
export type * from './node-groups.ts';
export type * from './node-invoices.ts';
export type * from './node-observations.ts';
export type * from './node-sends.ts';
export type * from './wallet-node.ts';
