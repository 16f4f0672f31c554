import type { PaymentJson } from '../../model/payment.ts';
import { CallRefused } from '../call-refused.ts';
import { fields } from './table.ts';
import { moment, sats } from './words.ts';

/** Lines that tell a person about one payment. */
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

/** The status, and what its message adds. */
export function statusWords({ status, status_msg }: PaymentJson): string {
  return status === status_msg ? status : `${status} (${status_msg})`;
}

/** Throws {@link CallRefused} for a payment that has failed: an answer of the API, and no success of a command. */
export function refuseFailed(payment: PaymentJson): void {
  if (payment.status !== 'failed') return;
  throw new CallRefused(`The payment failed: ${payment.status_msg}.`);
}
