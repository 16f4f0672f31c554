/** The fee that a partner takes of an inbound payment (docs/api.md, Payment). */
export interface PartnerTerms {
  readonly partnerPropFeePpm: number | null;
  readonly partnerBaseFeeMsat: bigint | null;
}

/** Returns the partner's fee on a payment of `paidMsat`, rounded down to a millisatoshi. */
export function partnerFeeMsat(terms: PartnerTerms, paidMsat: bigint): bigint {
  const proportional = (paidMsat * BigInt(terms.partnerPropFeePpm ?? 0)) / 1_000_000n;
  return proportional + (terms.partnerBaseFeeMsat ?? 0n);
}
