/**
 * How a reader in this folder turns input down: it is given the broken rule as a clause without a full stop
 * (`offer_paths ends too early`) and throws a `CodecError` that names the document and the next step. Readers of
 * shared parts take one, so that the person who supplied a payer proof is not told about a TLV stream.
 */
export type Refuse = (problem: string) => never;

const MAX_BIGSIZE = (1n << 64n) - 1n;

/** The widths of BigSize behind a leading byte: that byte, how many bytes follow, the least value that needs them. */
const WIDTHS = [
  { prefix: 0xfd, bytes: 2, least: 0xfdn },
  { prefix: 0xfe, bytes: 4, least: 0x10000n },
  { prefix: 0xff, bytes: 8, least: 0x100000000n },
] as const;

/**
 * Writes an integer of 0 to 2^64 - 1 as a minimal big-endian BigSize (BOLT 1, appendix A), 1 to 9 bytes.
 * Throws `RangeError` for any other integer: that is a mistake of the caller, never of its input.
 */
export function encodeBigSize(value: bigint): Uint8Array {
  if (value < 0n || value > MAX_BIGSIZE) throw new RangeError('BigSize holds 0 to 2^64 - 1.');
  if (value < 0xfdn) return Uint8Array.of(Number(value));
  const width = WIDTHS.findLast(({ least }) => value >= least) ?? WIDTHS[0];
  const encoded = new Uint8Array(1 + width.bytes);
  encoded[0] = width.prefix;
  let rest = value;
  for (let i = width.bytes; i > 0; i--) {
    encoded[i] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return encoded;
}

/**
 * Reads the BigSize (BOLT 1) at `offset` and says where the next byte stands. Refuses one that is cut short or
 * written longer than needed: BOLT 1 requires minimal encodings, and signatures rely on there being only one.
 */
export function readBigSize(
  bytes: Uint8Array,
  offset: number,
  refuse: Refuse,
): { value: bigint; end: number } {
  const first = bytes[offset];
  if (first === undefined) return refuse('it ends where a number was expected');
  const width = WIDTHS.find(({ prefix }) => prefix === first);
  if (width === undefined) return { value: BigInt(first), end: offset + 1 };
  const end = offset + 1 + width.bytes;
  if (end > bytes.length) return refuse('it ends in the middle of a number');
  let value = 0n;
  for (let i = offset + 1; i < end; i++) value = (value << 8n) | BigInt(bytes[i] ?? 0);
  if (value < width.least) return refuse('a number in it is written longer than needed');
  return { value, end };
}
