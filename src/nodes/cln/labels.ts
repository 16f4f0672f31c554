import { idOfIndex, type PaymentIndex, paymentIndexInput } from '../../model/payment-index.ts';

/** The node keeps this label with an invoice or an outgoing payment; the payment's index follows it. */
const PREFIX = 'wallet-sidecar/';

/** The label under which the node keeps a payment of this program. */
export function labelOf(index: PaymentIndex): string {
  return `${PREFIX}${index}`;
}

/** The index in a label; null for a label that this program did not write. */
function indexIn(label: string | undefined): PaymentIndex | null {
  if (!label?.startsWith(PREFIX)) return null;
  const { success, data } = paymentIndexInput().safeParse(label.slice(PREFIX.length));
  return success ? data : null;
}

/**
 * The index in the label of an invoice or payment of that hash. Null also for a label that belongs to another hash:
 * everybody who may use the node can write any label.
 */
export function ownIndexOf({
  label,
  payment_hash,
}: {
  readonly label?: string | undefined;
  readonly payment_hash: string;
}): PaymentIndex | null {
  const index = indexIn(label);
  if (index === null) return null;
  const id = idOfIndex(index);
  // An offer's payment is named before its invoice, and so its hash, is known.
  return id === `ln_${payment_hash}` || id.startsWith('fs_') ? index : null;
}
