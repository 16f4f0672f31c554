import type { PaymentJson } from '../model/payment.ts';
import { bolt11Of } from '../phoenixd/payments.ts';
import { msatOf, secsOf } from './params.ts';

/** A payment as NIP-47 shows it: millisatoshis and seconds. What there is not is left out. */
export function transactionOf(payment: PaymentJson): object {
  const { status, preimage, description, message } = payment;
  return {
    type: payment.direction === 'inbound' ? 'incoming' : 'outgoing',
    state: stateOf(payment),
    invoice: bolt11Of(payment) ?? undefined,
    description: description ?? undefined,
    preimage: preimage ?? undefined,
    payment_hash: payment.hash,
    amount: msatOf(payment.amount),
    fees_paid: msatOf(payment.fees),
    created_at: secsOf(payment.created_at),
    expires_at: secsOf(payment.expires_at),
    settled_at: status === 'completed' ? secsOf(payment.finalized_at) : undefined,
    metadata: message === null ? undefined : { comment: message },
  };
}

function stateOf({ status, status_msg, direction }: PaymentJson): string {
  if (status === 'completed') return 'settled';
  if (status === 'pending') return status_msg === 'held' ? 'accepted' : 'pending';
  return direction === 'inbound' && status_msg === 'expired' ? 'expired' : 'failed';
}

const NOTIFICATIONS: Readonly<Record<string, string>> = {
  'inbound settled': 'payment_received',
  'inbound accepted': 'hold_invoice_accepted',
  'outbound settled': 'payment_sent',
};

/** What NIP-47 tells of a payment's state; undefined for nothing. */
export function notificationOf(payment: PaymentJson): string | undefined {
  return payment.hash === null
    ? undefined
    : NOTIFICATIONS[`${payment.direction} ${stateOf(payment)}`];
}
