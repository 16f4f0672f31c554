import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import { idOfIndex, type PaymentIndex, paymentIndexInput } from '../../../model/payment-index.ts';

/** The node keeps this label with an invoice or an outgoing payment; the payment's index follows it. */
const PREFIX = 'wallet-sidecar/';

const MARK_CHARACTERS = 16;

/** The label under which the node keeps an invoice of this program. */
export function labelOf(index: PaymentIndex): string {
  return `${PREFIX}${index}`;
}

/**
 * The labels of outgoing payments. They carry a mark of this installation: two that begin to pay one hash in the same
 * millisecond give their payments the same index. Those of version 0.2 have no mark.
 */
export class SendLabels {
  readonly #mark: string;

  /** `installation` is the id of the installation. */
  constructor(installation: string) {
    const digest = sha256(utf8ToBytes(`wallet-sidecar label${installation}`));
    this.#mark = hex.encode(digest).slice(0, MARK_CHARACTERS);
  }

  of(index: PaymentIndex): string {
    return `${labelOf(index)}/${this.#mark}`;
  }

  /** {@link ownIndexOf} of an outgoing payment. Null also for a label of another installation. */
  indexOf({ label, payment_hash }: Labeled): PaymentIndex | null {
    const own = label?.endsWith(`/${this.#mark}`) ? withoutMark(label) : label;
    return ownIndexOf({ label: own, payment_hash });
  }
}

function withoutMark(label: string): string {
  return label.slice(0, label.lastIndexOf('/'));
}

/** Whether an attempt with the label `given` is of the payment whose label {@link SendLabels} made. */
export function isOwnLabel(given: string | undefined, own: string): boolean {
  return given === own || given === withoutMark(own);
}

/** The index in a label; null for a label that this program did not write. */
function indexIn(label: string | undefined): PaymentIndex | null {
  if (!label?.startsWith(PREFIX)) return null;
  const { success, data } = paymentIndexInput().safeParse(label.slice(PREFIX.length));
  return success ? data : null;
}

interface Labeled {
  readonly label?: string | undefined;
  readonly payment_hash: string;
}

/** The index in the label of that hash; null for a label of another hash: any user of the node can write labels. */
export function ownIndexOf({ label, payment_hash }: Labeled): PaymentIndex | null {
  const index = indexIn(label);
  if (index === null) return null;
  const id = idOfIndex(index);
  // An offer's payment is named before its invoice, and so its hash, is known.
  return id === `ln_${payment_hash}` || id.startsWith('fs_') ? index : null;
}
