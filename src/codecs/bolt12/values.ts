import { secp256k1 } from '@noble/curves/secp256k1.js';
import { numberToBytesBE } from '@noble/curves/utils.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import type { Invalid } from '../bigsize.ts';
import { decodeTruncatedUint, encodeTruncatedUint } from '../tlv.ts';

/**
 * Reads and writes the values of one kind of TLV field. Both functions call `invalid` with a clause that follows the
 * field's name, such as "is not UTF-8 text". Writers check their whole document with the reader afterwards, so `encode`
 * only checks what would otherwise be lost or would throw another error.
 */
export interface ValueCodec<T> {
  decode(value: Uint8Array, invalid: Invalid): T;
  encode(value: T, invalid: Invalid): Uint8Array;
}

/** Converts hex to bytes; any other text is invalid. */
export function bytesOfHex(text: string, invalid: Invalid): Uint8Array {
  return /^(?:[0-9a-f]{2})*$/i.test(text) ? hex.decode(text) : invalid('is not written in hex');
}

/** Returns the big-endian bytes of an unsigned integer; one that does not fit is invalid. */
export function uintBytes(value: number | bigint, length: number, invalid: Invalid): Uint8Array {
  const fits = value >= 0 && value < 256n ** BigInt(length) && Number.isInteger(Number(value));
  return fits
    ? numberToBytesBE(value, length)
    : invalid(`has a number that ${length} bytes cannot hold`);
}

// `ignoreBOM` keeps a leading byte order mark, so that writing the text gives the signed bytes again.
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeText(value: Uint8Array, invalid: Invalid): string {
  try {
    return UTF8.decode(value);
  } catch {
    return invalid('is not UTF-8 text');
  }
}

/** Codec of bytes without inner structure. */
export const rawBytes: ValueCodec<Uint8Array> = {
  decode: (value) => value,
  encode: (value) => value,
};

/** Returns the codec of exactly `length` bytes, as lower-case hex. */
export function fixedHex(length: number): ValueCodec<string> {
  return {
    decode: (value, invalid) =>
      value.length === length ? hex.encode(value) : invalid(`is not ${length} bytes long`),
    encode: bytesOfHex,
  };
}

/** Returns the codec of items of `length` bytes each, as a list of lower-case hex strings, which may be empty. */
export function hexList(length: number): ValueCodec<readonly string[]> {
  return {
    decode: (value, invalid) => {
      if (value.length % length !== 0) invalid(`is not a multiple of ${length} bytes`);
      return Array.from({ length: value.length / length }, (_, i) =>
        hex.encode(value.subarray(i * length, (i + 1) * length)),
      );
    },
    encode: (items, invalid) => bytesOfHex(items.join(''), invalid),
  };
}

function encodeText(text: string, invalid: Invalid): Uint8Array {
  // The encoder would replace a lone surrogate by another character without an error.
  return text.isWellFormed() ? utf8ToBytes(text) : invalid('is not valid Unicode text');
}

/** Codec of UTF-8 text. */
export const utf8Text: ValueCodec<string> = { decode: decodeText, encode: encodeText };

/** Codec of an ISO 4217 code: three capital letters (`offer_currency`). */
export const currencyCode: ValueCodec<string> = {
  decode: (value, invalid) => {
    const code = decodeText(value, invalid);
    return /^[A-Z]{3}$/.test(code) ? code : invalid('is not a three-letter currency code');
  },
  encode: encodeText,
};

function truncatedUint(value: number | bigint, maxBytes: number, invalid: Invalid): Uint8Array {
  uintBytes(value, maxBytes, invalid);
  return encodeTruncatedUint(BigInt(value));
}

/** Codec of BOLT 1's `tu64`. */
export const tu64: ValueCodec<bigint> = {
  decode: (value, invalid) => decodeTruncatedUint(value, 8, invalid),
  encode: (value, invalid) => truncatedUint(value, 8, invalid),
};

/** Codec of BOLT 1's `tu32`. */
export const tu32: ValueCodec<number> = {
  decode: (value, invalid) => Number(decodeTruncatedUint(value, 4, invalid)),
  encode: (value, invalid) => truncatedUint(value, 4, invalid),
};

/** Returns whether the bytes are a compressed secp256k1 public key: 33 bytes that stand for a point of the curve. */
export function isPoint(bytes: Uint8Array): boolean {
  try {
    return bytes.length === 33 && !secp256k1.Point.fromBytes(bytes).is0();
  } catch {
    return false;
  }
}

/** Codec of BOLT 1's `point`: a compressed public key as lower-case hex. Bytes that are not a point are invalid. */
export const point: ValueCodec<string> = {
  decode: (value, invalid) => (isPoint(value) ? hex.encode(value) : invalid('is not a public key')),
  encode: bytesOfHex,
};

/** Codec of one or more 32-byte chain hashes. An empty list is invalid, as no request could name a chain (BOLT 12). */
export const chainHashes: ValueCodec<readonly string[]> = {
  decode: (value, invalid) => {
    if (value.length === 0) invalid('names no chain');
    return hexList(32).decode(value, invalid);
  },
  encode: hexList(32).encode,
};

/** Returns the lowest even feature bit that is set and not in `known`, or null. Odd bits are optional (BOLT 9). */
export function unknownEvenBit(features: Uint8Array, known: readonly number[]): number | null {
  for (let i = features.length - 1, base = 0; i >= 0; i--, base += 8) {
    for (let bit = 0; bit < 8; bit += 2) {
      const isSet = (((features[i] ?? 0) >> bit) & 1) === 1;
      if (isSet && !known.includes(base + bit)) return base + bit;
    }
  }
  return null;
}

/** Returns an integer as a number of at most `Number.MAX_SAFE_INTEGER`, which as a time in seconds means never. */
export function safeNumber(value: bigint | null): number | null {
  return value === null ? null : Math.min(Number(value), Number.MAX_SAFE_INTEGER);
}
