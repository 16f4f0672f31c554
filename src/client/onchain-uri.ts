const MSAT_PER_SAT = 1000n;

/**
 * Returns an address and an amount as a URI (BIP 321), by which the fee on chain is estimated. Null for an amount that
 * no transaction has, because it is not in whole sats.
 */
export function onchainUri(address: string, amountMsat: bigint): string | null {
  if (amountMsat % MSAT_PER_SAT !== 0n) return null;
  const digits = String(amountMsat / MSAT_PER_SAT).padStart(9, '0');
  return `bitcoin:${address}?amount=${digits.slice(0, -8)}.${digits.slice(-8)}`;
}
