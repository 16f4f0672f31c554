import { equalBytes } from '@noble/curves/utils.js';
import type { TlvRecord } from '../tlv.ts';

/** Returns whether two streams hold the same fields with the same values. */
export function sameRecords(a: readonly TlvRecord[], b: readonly TlvRecord[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ type, value }, i) => {
      const other = b[i];
      return other !== undefined && other.type === type && equalBytes(value, other.value);
    })
  );
}
