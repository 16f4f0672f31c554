import { isFinal, type Payment } from '../model/payment.ts';

/** Whether the payment may be a spend that is given up, and then is in no list any more. */
export function mayBeGivenUp(payment: Payment): boolean {
  return payment.direction === 'outbound' && !isFinal(payment);
}
