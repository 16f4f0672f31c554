import { type PaymentIndex, paymentIndexInput } from '../../model/payment-index.ts';

/** The node keeps this label with an invoice or an outgoing payment; the payment's index follows it. */
const PREFIX = 'wallet-sidecar/';

/** The label under which the node keeps a payment of this program. */
export function labelOf(index: PaymentIndex): string {
  return `${PREFIX}${index}`;
}

/** The index in a label; null for a label that this program did not write. */
export function indexIn(label: string | undefined): PaymentIndex | null {
  if (!label?.startsWith(PREFIX)) return null;
  const { success, data } = paymentIndexInput.safeParse(label.slice(PREFIX.length));
  return success ? data : null;
}
