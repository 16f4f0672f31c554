import { secp256k1 } from '@noble/curves/secp256k1.js';
import { numberToBytesBE } from '@noble/curves/utils.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import type { Refuse } from '../bigsize.ts';
import { decodeTruncatedUint, encodeTruncatedUint } from '../tlv.ts';

/**
 * How the value of one kind of TLV field is read and written. Both refuse with a clause that follows the field's
 * name: "is not UTF-8 text". What `encode` writes, `decode` reads as the same value or refuses: writers check
 * their whole document with the reader, so `encode` only guards against what would be lost or thrown on the way.
 */
export interface ValueCodec<T> {
  decode(value: Uint8Array, refuse: Refuse): T;
  encode(value: T, refuse: Refuse): Uint8Array;
}

/** The bytes that hex digits stand for; refuses what is not hex. */
export function bytesOfHex(text: string, refuse: Refuse): Uint8Array {
  return /^(?:[0-9a-f]{2})*$/i.test(text) ? hex.decode(text) : refuse('is not written in hex');
}

/** Big-endian bytes of an unsigned integer; refuses one that does not fit. */
export function uintBytes(value: number | bigint, length: number, refuse: Refuse): Uint8Array {
  const fits = value >= 0 && value < 256n ** BigInt(length) && Number.isInteger(Number(value));
  return fits
    ? numberToBytesBE(value, length)
    : refuse(`has a number that ${length} bytes cannot hold`);
}

// `ignoreBOM` keeps a leading byte order mark: text must write back to the bytes that were signed.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeText(value: Uint8Array, refuse: Refuse): string {
  try {
    return UTF8.decode(value);
  } catch {
    return refuse('is not UTF-8 text');
  }
}

/** Bytes without inner structure. */
export const rawBytes: ValueCodec<Uint8Array> = {
  decode: (value) => value,
  encode: (value) => value,
};

/** Exactly `length` bytes, as lower-case hex. */
export function fixedHex(length: number): ValueCodec<string> {
  return {
    decode: (value, refuse) =>
      value.length === length ? hex.encode(value) : refuse(`is not ${length} bytes long`),
    encode: bytesOfHex,
  };
}

/** Whole number of items of `length` bytes each, as a list of lower-case hex strings; may be empty. */
export function hexList(length: number): ValueCodec<readonly string[]> {
  return {
    decode: (value, refuse) => {
      if (value.length % length !== 0) refuse(`is not a multiple of ${length} bytes`);
      return Array.from({ length: value.length / length }, (_, i) =>
        hex.encode(value.subarray(i * length, (i + 1) * length)),
      );
    },
    encode: (items, refuse) => bytesOfHex(items.join(''), refuse),
  };
}

function encodeText(text: string, refuse: Refuse): Uint8Array {
  // A lone surrogate would silently become another character.
  return text.isWellFormed() ? utf8ToBytes(text) : refuse('has half a character in its text');
}

/** UTF-8 text. */
export const utf8Text: ValueCodec<string> = { decode: decodeText, encode: encodeText };

/** An ISO 4217 code: three capital letters (`offer_currency`). */
export const currencyCode: ValueCodec<string> = {
  decode: (value, refuse) => {
    const code = decodeText(value, refuse);
    return /^[A-Z]{3}$/.test(code) ? code : refuse('is not a three-letter currency code');
  },
  encode: encodeText,
};

function truncatedUint(value: number | bigint, maxBytes: number, refuse: Refuse): Uint8Array {
  uintBytes(value, maxBytes, refuse);
  return encodeTruncatedUint(BigInt(value));
}

/** BOLT 1 `tu64`. */
export const tu64: ValueCodec<bigint> = {
  decode: (value, refuse) => decodeTruncatedUint(value, 8, refuse),
  encode: (value, refuse) => truncatedUint(value, 8, refuse),
};

/** BOLT 1 `tu32`. */
export const tu32: ValueCodec<number> = {
  decode: (value, refuse) => Number(decodeTruncatedUint(value, 4, refuse)),
  encode: (value, refuse) => truncatedUint(value, 4, refuse),
};

/** Whether the bytes are a compressed secp256k1 public key: 33 bytes that name a point of the curve. */
export function isPoint(bytes: Uint8Array): boolean {
  try {
    return bytes.length === 33 && !secp256k1.Point.fromBytes(bytes).is0();
  } catch {
    return false;
  }
}

/** A compressed public key, as lower-case hex; refuses bytes that are not a point of the curve (BOLT 1 `point`). */
export const point: ValueCodec<string> = {
  decode: (value, refuse) => (isPoint(value) ? hex.encode(value) : refuse('is not a public key')),
  encode: bytesOfHex,
};

/** One or more 32-byte chain hashes; BOLT 12 calls an empty list invalid, since no request could name a chain. */
export const chainHashes: ValueCodec<readonly string[]> = {
  decode: (value, refuse) => {
    if (value.length === 0) refuse('names no chain');
    return hexList(32).decode(value, refuse);
  },
  encode: hexList(32).encode,
};

/** The lowest even feature bit that is set and not among `known`, or null; odd bits are always optional (BOLT 9). */
export function unknownEvenBit(features: Uint8Array, known: readonly number[]): number | null {
  for (let i = features.length - 1, base = 0; i >= 0; i--, base += 8) {
    for (let bit = 0; bit < 8; bit += 2) {
      const isSet = (((features[i] ?? 0) >> bit) & 1) === 1;
      if (isSet && !known.includes(base + bit)) return base + bit;
    }
  }
  return null;
}

/** An integer as a number, held down to `Number.MAX_SAFE_INTEGER`: as a time in seconds, both mean never. */
export function safeNumber(value: bigint | null): number | null {
  return value === null ? null : Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}
