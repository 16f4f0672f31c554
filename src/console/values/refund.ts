import { type Payment, toMsat } from '../../client/index.ts';

const REFUND = 'refund-of/';

/** A refund that is about to be paid. */
export interface Refund {
  /** The index of the received payment. */
  readonly of: string;
  /** What can still be refunded of it, in millisatoshis; null while that is being read. */
  readonly leftMsat: bigint | null;
}

/** Returns what stands behind the page Send where it refunds that payment. */
export function refundPlace(index: string): string {
  return REFUND + index;
}

/** Returns the payment that Send refunds, by what stands behind the page; null where that is something to pay. */
export function refundedBy(rest: string): string | null {
  return rest.startsWith(REFUND) ? rest.slice(REFUND.length) : null;
}

/** Returns what can still be refunded of a payment, in millisatoshis: nothing of one that was not received. */
export function refundableMsat({
  direction,
  status,
  amount,
  refunded,
}: Pick<Payment, 'direction' | 'status' | 'amount' | 'refunded'>): bigint {
  if (direction !== 'inbound' || status !== 'completed') return 0n;
  return toMsat(amount ?? '0') - toMsat(refunded ?? '0');
}
