/** How much a Lightning payment may pay for routing when the request has no `max_fee` (docs/decisions.md 48). */
export interface FeePolicy {
  /** Parts per million of the amount. */
  readonly ppm: number;
  readonly leastMsat: bigint;
}

/** The cap for an amount, in millisatoshis, rounded down. `requestedMsat`, from `max_fee`, replaces the policy. */
export function feeCapMsat(
  amountMsat: bigint,
  requestedMsat: bigint | null,
  policy: FeePolicy,
): bigint {
  if (requestedMsat !== null) return requestedMsat;
  const capMsat = (amountMsat * BigInt(policy.ppm)) / 1_000_000n;
  return capMsat > policy.leastMsat ? capMsat : policy.leastMsat;
}
