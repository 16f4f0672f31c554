import type { Refuse } from '../bigsize.ts';
import { byteReader } from '../byte-reader.ts';
import { joinBytes } from '../tlv.ts';
import { uintBytes, utf8Text, type ValueCodec } from './values.ts';

/** The Human Bitcoin Address under which an offer was found: the parts before and after its `@`. */
export interface Bip353Name {
  readonly name: string;
  readonly domain: string;
}

const ALLOWED = /^[0-9A-Za-z\-_.]*$/;

function nameText(bytes: Uint8Array, refuse: Refuse): string {
  // Each byte is read as one character, so that every byte is checked; the allowed ones are all ASCII.
  const text = String.fromCharCode(...bytes);
  return ALLOWED.test(text) ? text : refuse('has a character that names cannot have');
}

/** Codec of `invreq_bip_353_name`. It allows the characters that BOLT 12 tells readers to accept. */
export const bip353Name: ValueCodec<Bip353Name> = {
  decode: (value, refuse) => {
    const reader = byteReader(value, 'the name', refuse);
    const name = nameText(reader.take(reader.uint(1)), refuse);
    const domain = nameText(reader.take(reader.uint(1)), refuse);
    if (!reader.done()) refuse('has bytes after the name');
    return { name, domain };
  },
  encode: ({ name, domain }, refuse) => {
    const parts = [name, domain].map((part) => utf8Text.encode(part, refuse));
    return joinBytes(parts.flatMap((part) => [uintBytes(part.length, 1, refuse), part]));
  },
};
