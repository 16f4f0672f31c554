import { isFinal, type Payment } from '../model/payment.ts';

/** Whether the payment may be a spend that gives way to another row, and then is in no list any more. */
export function mayGiveWay(payment: Payment): boolean {
  return payment.direction === 'outbound' && !isFinal(payment);
}
