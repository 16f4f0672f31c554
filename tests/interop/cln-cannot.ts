import { REAL_NODES_CANNOT } from './real-cannot.ts';

/** Conformance tests that Core Lightning cannot pass, each with the reason. */
export const CLN_CANNOT: ReadonlyMap<string, string> = new Map([...REAL_NODES_CANNOT]);
