import type { Payment } from '../model/payment.ts';
import type { Watch } from '../store/ports.ts';

/**
 * What a final payment takes from its client's budget: amount and fees when it was made, 0 when it failed. Null leaves
 * what was held back, since the cost is not known, or the payment spends nothing of the wallet.
 */
export function costMsat({ direction, status, amountMsat, feesMsat }: Payment): bigint | null {
  if (direction !== 'outbound') return null;
  if (status === 'failed') return 0n;
  return amountMsat === null ? null : amountMsat + feesMsat;
}

/**
 * The watches of which any makes a final payment owed a delivery: its own, which ends with it, and those of the offer
 * or address that it arrived on, which go on (decisions section 11).
 */
export function watchesOf({ index, direction, offerId, address }: Payment): Watch[] {
  const own: Watch = { kind: 'payment', index };
  if (direction !== 'inbound') return [own];
  return [
    own,
    ...(offerId === null ? [] : [{ kind: 'offer' as const, offerId }]),
    ...(address === null ? [] : [{ kind: 'address' as const, address }]),
  ];
}
