import type { Payment } from '../../../model/payment.ts';

/** The fee that a partner takes of an inbound payment (docs/api.md, Payment). */
type PartnerTerms = Pick<Payment, 'partnerPropFeePpm' | 'partnerBaseFeeMsat'>;

/** Returns the partner's fee on a payment of `paidMsat`, rounded down to a millisatoshi. */
export function partnerFeeMsat(terms: PartnerTerms, paidMsat: bigint): bigint {
  const proportional = (paidMsat * BigInt(terms.partnerPropFeePpm ?? 0)) / 1_000_000n;
  return proportional + (terms.partnerBaseFeeMsat ?? 0n);
}
