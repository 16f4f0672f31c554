import { bytesToNumberBE, numberToVarBytesBE } from '@noble/curves/utils.js';
import { encodeBigSize, type Invalid, readBigSize } from './bigsize.ts';

/** One record of a TLV stream (BOLT 1). Its bytes follow, since readers accept minimal encodings only. */
export interface TlvRecord {
  readonly type: bigint;
  readonly value: Uint8Array;
}

/** Writes a record as in a stream: type, length, value. */
export function encodeTlvRecord(record: TlvRecord): Uint8Array {
  const length = encodeBigSize(BigInt(record.value.length));
  return joinBytes([encodeBigSize(record.type), length, record.value]);
}

/** Returns the records sorted by type, as BOLT 1 requires, without changing the given list. */
export function sortTlvRecords(records: readonly TlvRecord[]): TlvRecord[] {
  return records.toSorted((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0));
}

/** Joins byte strings; a list, since a hostile stream can have more records than a call arguments. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  // A plain array, since a Buffer behaves otherwise (`slice`).
  return new Uint8Array(Buffer.concat(parts));
}

/** Writes records in the given order. Their types must be strictly ascending; `sortTlvRecords` sorts them. */
export function encodeTlvStream(records: readonly TlvRecord[]): Uint8Array {
  return joinBytes(records.map(encodeTlvRecord));
}

/**
 * Reads a whole TLV stream by the rules of BOLT 1: minimal types and lengths, strictly ascending types, no incomplete
 * record. Values are views into `bytes`. Types and values are not checked here.
 */
export function decodeTlvStream(bytes: Uint8Array, invalid: Invalid): TlvRecord[] {
  const records: TlvRecord[] = [];
  let previous = -1n;
  let offset = 0;
  while (offset < bytes.length) {
    const type = readBigSize(bytes, offset, invalid);
    if (type.value === previous) invalid(`it has field ${type.value} twice`);
    if (type.value < previous) invalid('its fields are not in ascending order');
    const length = readBigSize(bytes, type.end, invalid);
    if (length.value > BigInt(bytes.length - length.end)) {
      invalid(`it ends in the middle of field ${type.value}`);
    }
    offset = length.end + Number(length.value);
    records.push({ type: type.value, value: bytes.subarray(length.end, offset) });
    previous = type.value;
  }
  return records;
}

/** Writes a non-negative integer as BOLT 1's `tu64` or `tu32`: big-endian, no leading zero bytes, zero is empty. */
export function encodeTruncatedUint(value: bigint): Uint8Array {
  return value === 0n ? new Uint8Array() : numberToVarBytesBE(value);
}

/** Reads BOLT 1's `tu64` (`maxBytes` 8) or `tu32` (4). Longer values and leading zero bytes are invalid. */
export function decodeTruncatedUint(value: Uint8Array, maxBytes: number, invalid: Invalid): bigint {
  if (value.length > maxBytes) invalid(`is a number of more than ${maxBytes} bytes`);
  if (value[0] === 0) invalid('is a number with a leading zero byte');
  return bytesToNumberBE(value);
}
