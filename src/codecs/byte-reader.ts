import { bytesToNumberBE } from '@noble/curves/utils.js';
import type { Refuse } from './bigsize.ts';

/** Walks over a byte string part by part; a part that is not there whole is refused. */
export interface ByteReader {
  /** True when every byte has been read. */
  done(): boolean;
  /** The next byte without taking it; refuses at the end. */
  peek(): number;
  /** The next `count` bytes, as a view. */
  take(count: number): Uint8Array;
  /** The next `count` bytes as a big-endian number; 6 bytes at most, so that it is exact. */
  uint(count: number): number;
  /** The next 8 bytes as a big-endian integer. */
  uint64(): bigint;
}

/** A `ByteReader` from the start of `bytes`; `what` names in errors what is being read, e.g. `a blinded path`. */
export function byteReader(bytes: Uint8Array, what: string, refuse: Refuse): ByteReader {
  let offset = 0;
  const take = (count: number): Uint8Array => {
    if (offset + count > bytes.length) refuse(`ends in the middle of ${what}`);
    offset += count;
    return bytes.subarray(offset - count, offset);
  };
  return {
    done: () => offset === bytes.length,
    peek: () => bytes[offset] ?? refuse(`ends in the middle of ${what}`),
    take,
    uint: (count) => take(count).reduce((sum, byte) => sum * 256 + byte, 0),
    uint64: () => bytesToNumberBE(take(8)),
  };
}
