import { bytesToNumberBE, concatBytes, numberToBytesBE } from '@noble/curves/utils.js';

/**
 * Throws the `CodecError` of one kind of document. It is given the broken rule as a clause without a full stop, such
 * as `offer_paths ends too early`, and adds the document's name and the next step. Readers of parts that several
 * documents share take one as an argument, so that an error names the document and not its part.
 */
export type Invalid = (problem: string) => never;

const MAX_BIGSIZE = (1n << 64n) - 1n;

/** The long forms of BigSize: their first byte, how many bytes follow, and the least value that needs them. */
const WIDTHS = [
  { prefix: 0xfd, bytes: 2, least: 0xfdn },
  { prefix: 0xfe, bytes: 4, least: 0x10000n },
  { prefix: 0xff, bytes: 8, least: 0x100000000n },
] as const;

/**
 * Writes an integer of 0 to 2^64 - 1 as a minimal big-endian BigSize (BOLT 1, appendix A), 1 to 9 bytes.
 * Throws `RangeError` for any other integer, which is a programming error and not invalid input.
 */
export function encodeBigSize(value: bigint): Uint8Array {
  if (value < 0n || value > MAX_BIGSIZE) throw new RangeError('BigSize holds 0 to 2^64 - 1.');
  if (value < 0xfdn) return Uint8Array.of(Number(value));
  const width = WIDTHS.findLast(({ least }) => value >= least) ?? WIDTHS[0];
  return concatBytes(Uint8Array.of(width.prefix), numberToBytesBE(value, width.bytes));
}

/**
 * Reads the BigSize (BOLT 1) at `offset`. Returns its value and the offset after it. Calls `invalid` for a number that
 * is cut short or not minimal: BOLT 1 requires minimal encodings, because signatures need a single encoding.
 */
export function readBigSize(
  bytes: Uint8Array,
  offset: number,
  invalid: Invalid,
): { value: bigint; end: number } {
  const first = bytes[offset];
  if (first === undefined) return invalid('it ends where a number was expected');
  const width = WIDTHS.find(({ prefix }) => prefix === first);
  if (width === undefined) return { value: BigInt(first), end: offset + 1 };
  const end = offset + 1 + width.bytes;
  if (end > bytes.length) return invalid('it ends in the middle of a number');
  const value = bytesToNumberBE(bytes.subarray(offset + 1, end));
  if (value < width.least) return invalid('a number in it is written longer than needed');
  return { value, end };
}
