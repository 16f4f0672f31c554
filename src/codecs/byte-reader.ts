import { bytesToNumberBE } from '@noble/curves/utils.js';
import type { Invalid } from './bigsize.ts';

/** Reads a byte string part by part. A part that is incomplete is invalid. */
interface ByteReader {
  done(): boolean;
  at(): number;
  peek(): number;
  /** Returns the next `count` bytes, as a view. */
  take(count: number): Uint8Array;
  /** Returns the next `count` bytes as a big-endian number; at most 6 bytes, so that the number is exact. */
  uint(count: number): number;
  uint64(): bigint;
}

/** Creates a reader of `bytes`. `what` is the name of the bytes for errors, such as `a blinded path`. */
export function byteReader(bytes: Uint8Array, what: string, invalid: Invalid): ByteReader {
  let offset = 0;
  const take = (count: number): Uint8Array => {
    if (offset + count > bytes.length) invalid(`ends in the middle of ${what}`);
    offset += count;
    return bytes.subarray(offset - count, offset);
  };
  return {
    done: () => offset === bytes.length,
    at: () => offset,
    peek: () => bytes[offset] ?? invalid(`ends in the middle of ${what}`),
    take,
    uint: (count) => take(count).reduce((sum, byte) => sum * 256 + byte, 0),
    uint64: () => bytesToNumberBE(take(8)),
  };
}
