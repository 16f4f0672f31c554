import { formatAmountMsat } from '../../model/amount.ts';
import { refused } from '../../model/errors.ts';
import { isReceived } from '../../model/payment.ts';
import type { PaymentIndex } from '../../model/payment-index.ts';
import type { NewSpend } from '../../store/ports.ts';
import { paymentOf } from '../read/payments.ts';
import { isMadeBy, paymentNotFound } from '../session/own-payments.ts';
import { seesEveryPayment } from '../session/paid-by-another.ts';
import { allows, type Onlooker, type WithHistory } from '../session/session.ts';
import type { SendTerms } from './send-plan.ts';

/**
 * Returns the rule that keeps a refund within what was received (docs/decisions.md 194), which the store runs where it
 * reserves; null for a payment that refunds none. Throws error 107 where the caller may not see the received payment,
 * as where there is none, and error 106 where it is no completed payment to this wallet, or too little of it is left.
 */
export async function refundRule(
  session: Onlooker & WithHistory,
  { amountMsat, details: { refundOf = null } }: Pick<SendTerms, 'amountMsat' | 'details'>,
): Promise<NonNullable<NewSpend['requireLeft']> | null> {
  if (refundOf === null) return null;
  if (!(await maySeeReceived(session, refundOf))) throw paymentNotFound();
  const received = await paymentOf(session, refundOf);
  if (!isReceived(received)) {
    throw refused(
      'The payment to be refunded is no completed payment to this wallet: only that can be refunded.',
    );
  }
  const receivedMsat = received.amountMsat ?? 0n;
  const requireLeft = (refundedMsat: bigint) => {
    if (refundedMsat + amountMsat <= receivedMsat) return;
    const leftMsat = receivedMsat > refundedMsat ? receivedMsat - refundedMsat : 0n;
    throw refused(
      `Of the received payment ${formatAmountMsat(leftMsat)} sats are left to refund, and this payment is ${formatAmountMsat(amountMsat)} sats.`,
    );
  };
  requireLeft(received.refundedMsat ?? 0n);
  return requireLeft;
}

/** Whether the caller may see a received payment: that of a client which sees only its own, it must have made. */
async function maySeeReceived(
  session: Onlooker & WithHistory,
  index: PaymentIndex,
): Promise<boolean> {
  if (seesEveryPayment(session)) return true;
  return allows(session, 'get_payment_by_id') && isMadeBy(session, index);
}
