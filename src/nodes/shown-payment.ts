import { blankPayment, type Payment } from '../model/payment.ts';

/** What is known of a payment that a node shows. */
export type ShownPayment = Pick<Payment, 'index' | 'rail' | 'direction' | 'createdAtMs'> &
  Partial<Payment>;

/** A payment as a node shows it, pending unless more is said, updated when it ended, or else when it began. */
export function shownPayment(shown: ShownPayment): Payment {
  return blankPayment({
    status: 'pending',
    statusMsg: shown.rail === 'onchain' ? 'broadcasted' : 'pending',
    updatedAtMs: shown.finalizedAtMs ?? shown.createdAtMs,
    ...shown,
  });
}

/** A payment at its end. */
export function endedPayment(
  payment: Payment,
  end: Pick<Payment, 'status' | 'statusMsg'>,
  finalizedAtMs: number,
): Payment {
  return { ...payment, ...end, finalizedAtMs, updatedAtMs: finalizedAtMs };
}

/** How a payment ends that was made. */
export const COMPLETED = { status: 'completed', statusMsg: 'completed' } as const;
/** How an on-chain payment ends of which another transaction has spent a coin. */
export const REPLACED = { status: 'failed', statusMsg: 'replaced' } as const;
