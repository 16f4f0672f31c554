import { expiresAtMsOf } from '../../../codecs/bolt11/index.ts';
import { readOr } from '../../../codecs/codec-error.ts';

/**
 * Returns the expiry that a BOLT 11 string encodes, in milliseconds since the epoch. Null where the string cannot be
 * read, so that the payment is still shown.
 */
export function encodedExpiryMs(invoice: string): number | null {
  return readOr(
    () => expiresAtMsOf(invoice),
    () => null,
  );
}
