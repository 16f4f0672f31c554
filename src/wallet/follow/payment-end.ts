import { isFinal, isHeld, type Payment } from '../../model/payment.ts';
import type { Watch } from '../../store/ports.ts';

/**
 * Returns what a final payment takes from its client's budget, in millisatoshis: amount and fees of a completed one, 0
 * of a failed one. Null leaves the reservation as it is, because the amount is not known or the payment is not
 * outbound.
 */
export function costMsat({ direction, status, amountMsat, feesMsat }: Payment): bigint | null {
  if (direction !== 'outbound') return null;
  if (status === 'failed') return 0n;
  return amountMsat === null ? null : amountMsat + feesMsat;
}

/**
 * Returns the watches by which a final payment gets a delivery (docs/decisions.md 90): its own, which ends with it, and
 * those of the offer or address that it arrived on, which stay.
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

/** Whether the payment has ended, and a watch of it stays, by which it would get a delivery again. */
export function isWatchedOn(payment: Payment): boolean {
  return isFinal(payment) && watchesOf(payment).some(({ kind }) => kind !== 'payment');
}

/** The watch by which a held payment gets a delivery before its end (docs/decisions.md 117); else null. */
export function milestoneOf(payment: Payment): Watch | null {
  return isHeld(payment) ? { kind: 'held', index: payment.index } : null;
}
