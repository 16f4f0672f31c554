import { type Payment, toMsat } from '../../client/index.ts';

/** Stands before the index of the payment that the page Send refunds, behind its name in the URL. */
export const REFUND_OF = 'refund-of/';

/** Returns what can still be refunded of a payment, in millisatoshis: nothing of one that was not received. */
export function refundableMsat({ direction, status, amount, refunded }: Payment): bigint {
  if (direction !== 'inbound' || status !== 'completed') return 0n;
  return toMsat(amount ?? '0') - toMsat(refunded ?? '0');
}
