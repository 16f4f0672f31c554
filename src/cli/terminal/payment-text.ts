import type { PaymentJson } from '../../model/payment.ts';
import { CallFailed } from '../call-failed.ts';
import { fields } from './table.ts';
import { moment, sats } from './words.ts';

/** Returns lines that describe one payment for people. */
export function paymentLines(payment: PaymentJson): string[] {
  return fields({
    Status: statusWords(payment),
    Direction: payment.direction,
    Amount: payment.amount === null ? null : sats(payment.amount),
    Fees: sats(payment.fees),
    Rail: payment.rail,
    From: payment.payer_name,
    Message: payment.message,
    Note: payment.personal_note,
    Address: payment.address,
    Transaction: payment.txid,
    Created: moment(payment.created_at),
    Finalized: payment.finalized_at === null ? null : moment(payment.finalized_at),
    Index: payment.index,
  });
}

/** Returns the status, with its message if that says more. */
export function statusWords({ status, status_msg }: PaymentJson): string {
  return status === status_msg ? status : `${status} (${status_msg})`;
}

/**
 * Throws {@link CallFailed} for a failed payment, because the command then has not succeeded although the API
 * answered.
 */
export function requireNotFailed(payment: PaymentJson): void {
  if (payment.status !== 'failed') return;
  throw new CallFailed(`The payment failed: ${payment.status_msg}.`);
}
