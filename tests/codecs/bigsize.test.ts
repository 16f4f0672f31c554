import { describe, expect, test } from 'bun:test';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { encodeBigSize, readBigSize } from '../../src/codecs/bigsize.ts';

const invalid = (problem: string): never => {
  throw new Error(problem);
};

/** BOLT 1, appendix A. */
const VALID: readonly (readonly [bigint, string])[] = [
  [0n, '00'],
  [252n, 'fc'],
  [253n, 'fd00fd'],
  [65535n, 'fdffff'],
  [65536n, 'fe00010000'],
  [4294967295n, 'feffffffff'],
  [4294967296n, 'ff0000000100000000'],
  [18446744073709551615n, 'ffffffffffffffffff'],
];

/** BOLT 1, appendix A. */
const INVALID: readonly (readonly [string, string])[] = [
  ['fd00fc', 'written longer than needed'],
  ['fe0000ffff', 'written longer than needed'],
  ['ff00000000ffffffff', 'written longer than needed'],
  ['fd00', 'in the middle of a number'],
  ['feffff', 'in the middle of a number'],
  ['ffffffffff', 'in the middle of a number'],
  ['', 'where a number was expected'],
  ['fd', 'in the middle of a number'],
  ['fe', 'in the middle of a number'],
  ['ff', 'in the middle of a number'],
];

describe('BigSize', () => {
  test.each([...VALID])('writes %p as %s', (value, hex) => {
    expect(bytesToHex(encodeBigSize(value))).toBe(hex);
  });

  test.each([...VALID])('reads %p from %s', (value, hex) => {
    const bytes = hexToBytes(hex);
    expect(readBigSize(bytes, 0, invalid)).toEqual({ value, end: bytes.length });
  });

  test.each([...INVALID])('refuses "%s": %s', (hex, reason) => {
    expect(() => readBigSize(hexToBytes(hex), 0, invalid)).toThrow(reason);
  });

  test('reads from an offset and says where it stopped', () => {
    expect(readBigSize(hexToBytes('aafd0100bb'), 1, invalid)).toEqual({ value: 256n, end: 4 });
  });

  test.each([-1n, 1n << 64n])('does not write %p, which it cannot hold', (value) => {
    expect(() => encodeBigSize(value)).toThrow('BigSize holds 0 to 2^64 - 1.');
  });
});
