/** How much a Lightning payment may pay for routing when the request does not say (decisions section 1, max-fee). */
export interface FeePolicy {
  /** Parts per million of the amount. */
  readonly ppm: number;
  /** The cap is never below this. */
  readonly leastMsat: bigint;
}

/** The cap for an amount, in millisatoshis, rounded down; `requestedMsat` is the request's own `max_fee`. */
export function feeCapMsat(
  amountMsat: bigint,
  requestedMsat: bigint | null,
  policy: FeePolicy,
): bigint {
  if (requestedMsat !== null) return requestedMsat;
  const capMsat = (amountMsat * BigInt(policy.ppm)) / 1_000_000n;
  return capMsat > policy.leastMsat ? capMsat : policy.leastMsat;
}
