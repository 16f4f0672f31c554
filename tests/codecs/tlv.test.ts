import { describe, expect, test } from 'bun:test';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import {
  decodeTlvStream,
  decodeTruncatedUint,
  encodeTlvRecord,
  encodeTlvStream,
  encodeTruncatedUint,
  sortTlvRecords,
} from '../../src/codecs/tlv.ts';

const invalid = (problem: string): never => {
  throw new Error(problem);
};
const record = (type: bigint, hex: string) => ({ type, value: hexToBytes(hex) });

describe('TLV streams', () => {
  test('a record is type, length and value', () => {
    expect(bytesToHex(encodeTlvRecord(record(1001n, 'aabb')))).toBe('fd03e902aabb');
  });

  test('a stream reads back as the records it was written from', () => {
    const records = [record(0n, ''), record(252n, '01'), record(1_000_000_000n, 'ffee')];
    expect(decodeTlvStream(encodeTlvStream(records), invalid)).toEqual(records);
  });

  test('an empty stream has no records', () => {
    expect(decodeTlvStream(new Uint8Array(), invalid)).toEqual([]);
  });

  test('sorting puts types in ascending order and leaves the given list alone', () => {
    const records = [record(3n, ''), record(1_000_000_000n, ''), record(1n, '')];
    expect(sortTlvRecords(records).map(({ type }) => type)).toEqual([1n, 3n, 1_000_000_000n]);
    expect(records[0]?.type).toBe(3n);
  });

  test.each([
    ['01000100', 'it has field 1 twice'],
    ['02000100', 'not in ascending order'],
    ['0102aa', 'in the middle of field 1'],
    ['01ffffffffffffffffff', 'in the middle of field 1'],
    ['01', 'where a number was expected'],
    ['fd00010100', 'written longer than needed'],
    ['01fd000100', 'written longer than needed'],
    ['fd01', 'in the middle of a number'],
  ])('refuses %s: %s', (hex, reason) => {
    expect(() => decodeTlvStream(hexToBytes(hex), invalid)).toThrow(reason);
  });

  test('reads a stream of a hundred thousand records', () => {
    const records = Array.from({ length: 100_000 }, (_, i) => record(BigInt(i), ''));
    expect(decodeTlvStream(encodeTlvStream(records), invalid)).toHaveLength(100_000);
  });
});

describe('truncated integers', () => {
  test.each([
    [0n, ''],
    [1n, '01'],
    [256n, '0100'],
    [18446744073709551615n, 'ffffffffffffffff'],
  ])('%p is %s', (value, hex) => {
    expect(bytesToHex(encodeTruncatedUint(value))).toBe(hex);
    expect(decodeTruncatedUint(hexToBytes(hex), 8, invalid)).toBe(value);
  });

  test('a leading zero byte is refused', () => {
    expect(() => decodeTruncatedUint(hexToBytes('0001'), 8, invalid)).toThrow('leading zero byte');
    expect(() => decodeTruncatedUint(hexToBytes('00'), 8, invalid)).toThrow('leading zero byte');
  });

  test('more bytes than the kind allows are refused', () => {
    expect(() => decodeTruncatedUint(new Uint8Array(5).fill(1), 4, invalid)).toThrow(
      'more than 4 bytes',
    );
  });
});
