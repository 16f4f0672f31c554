/** Conformance tests that LND cannot pass, each with the reason; the list that the README names. */
export const LND_CANNOT: ReadonlyMap<string, string> = new Map([]);
