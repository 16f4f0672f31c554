import { hash } from 'node:crypto';
import { hex } from '@scure/base';

/** Returns the payment hash of a preimage; both are hex. Throws for text that is not hex. */
export function paymentHashOf(preimage: string): string {
  return hash('sha256', hex.decode(preimage), 'hex');
}

/** Whether a preimage, hex, is that of a payment hash. What is missing or is not hex fits nothing. */
export function isPreimageOf(
  preimage: string | null,
  paymentHash: string | null,
): preimage is string {
  try {
    return preimage !== null && paymentHashOf(preimage) === paymentHash;
  } catch {
    return false;
  }
}
