import { LND_CANNOT } from './lnd-cannot.ts';

/** Conformance tests that the LDK node cannot pass, each with the reason. */
export const LDK_CANNOT: ReadonlyMap<string, string> = new Map([...LND_CANNOT]);
