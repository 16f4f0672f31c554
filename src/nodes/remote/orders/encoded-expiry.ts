import { expiresAtMsOf } from '../../../codecs/bolt11/index.ts';
import { readOr } from '../../../codecs/codec-error.ts';

/** The expiry that a BOLT 11 string encodes, in milliseconds; null for one that cannot be read. */
export function encodedExpiryMs(invoice: string): number | null {
  return readOr(
    () => expiresAtMsOf(invoice),
    () => null,
  );
}
