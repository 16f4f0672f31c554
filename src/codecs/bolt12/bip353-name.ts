import type { Invalid } from '../bigsize.ts';
import { byteReader } from '../byte-reader.ts';
import { joinBytes } from '../tlv.ts';
import { uintBytes, utf8Text, type ValueCodec } from './values.ts';

/** The Human Bitcoin Address under which an offer was found: the parts before and after its `@`. */
export interface Bip353Name {
  readonly name: string;
  readonly domain: string;
}

const ALLOWED = /^[0-9A-Za-z\-_.]*$/;

function nameText(bytes: Uint8Array, invalid: Invalid): string {
  // Each byte is read as one character, so that every byte is checked; the allowed ones are all ASCII.
  const text = String.fromCharCode(...bytes);
  return ALLOWED.test(text) ? text : invalid('has a character that names cannot have');
}

/** Codec of `invreq_bip_353_name`. It allows the characters that BOLT 12 tells readers to accept. */
export const bip353Name: ValueCodec<Bip353Name> = {
  decode: (value, invalid) => {
    const reader = byteReader(value, 'the name', invalid);
    const name = nameText(reader.take(reader.uint(1)), invalid);
    const domain = nameText(reader.take(reader.uint(1)), invalid);
    if (!reader.done()) invalid('has bytes after the name');
    return { name, domain };
  },
  encode: ({ name, domain }, invalid) => {
    const parts = [name, domain].map((part) => utf8Text.encode(part, invalid));
    return joinBytes(parts.flatMap((part) => [uintBytes(part.length, 1, invalid), part]));
  },
};
