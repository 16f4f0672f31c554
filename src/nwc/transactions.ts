import type { PaymentJson } from '../model/payment.ts';
import { msatOf, secsOf } from './params.ts';

/** A payment as NIP-47 shows it: millisatoshis and seconds. What there is not is left out. */
export function transactionOf(payment: PaymentJson): object {
  const { status, invoice, preimage, description, expires_at, finalized_at, message } = payment;
  return {
    type: payment.direction === 'inbound' ? 'incoming' : 'outgoing',
    state: stateOf(payment),
    invoice: invoice ?? undefined,
    description: description ?? undefined,
    // It is known to the wallet of an unpaid invoice too, and must not be told before it was paid.
    preimage: (status === 'completed' && preimage) || undefined,
    payment_hash: payment.hash,
    amount: msatOf(payment.amount),
    fees_paid: msatOf(payment.fees),
    created_at: secsOf(payment.created_at),
    expires_at: expires_at === null ? undefined : secsOf(expires_at),
    settled_at: status === 'completed' && finalized_at ? secsOf(finalized_at) : undefined,
    metadata: message === null ? undefined : { comment: message },
  };
}

function stateOf({ status, status_msg, direction }: PaymentJson): string {
  if (status === 'completed') return 'settled';
  if (status === 'pending') return status_msg === 'held' ? 'accepted' : 'pending';
  return direction === 'inbound' && status_msg === 'expired' ? 'expired' : 'failed';
}

/** What NIP-47 tells of a payment's state; null for nothing. */
export function notificationOf(payment: PaymentJson): string | null {
  if (payment.hash === null) return null;
  const state = stateOf(payment);
  if (payment.direction === 'outbound') return state === 'settled' ? 'payment_sent' : null;
  if (payment.direction !== 'inbound') return null;
  if (state === 'settled') return 'payment_received';
  return state === 'accepted' ? 'hold_invoice_accepted' : null;
}
