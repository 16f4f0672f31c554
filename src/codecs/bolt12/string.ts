import type { Invalid } from '../bigsize.ts';

/** The human-readable parts of BOLT 12: offer, invoice request, invoice, payer proof. */
export type Bolt12Prefix = 'lno' | 'lnr' | 'lni' | 'lnp';

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/**
 * The five-bit value of each character code of the alphabet in both cases, and 255 for all others. Texts are read with
 * this table and not converted to lower case first, because that would turn a Kelvin sign into a "k".
 */
const VALUES = new Uint8Array(128).fill(255);
for (const alphabet of [ALPHABET, ALPHABET.toUpperCase()]) {
  for (let i = 0; i < alphabet.length; i++) VALUES[alphabet.charCodeAt(i)] = i;
}

const WHITESPACE = /\s/;

/**
 * Returns which document a text claims to be, by its first characters; null when it is none of them. A `+` that joins
 * parts, and the whitespace after it, are ignored.
 */
export function bolt12PrefixOf(text: string): Bolt12Prefix | null {
  const kind = /^l(?:\+\s*)?n(?:\+\s*)?([orip])(?:\+\s*)?1/i.exec(text)?.[1]?.toLowerCase();
  return kind === undefined ? null : (`ln${kind}` as Bolt12Prefix);
}

/** Writes bytes as a lower-case BOLT 12 string: prefix, `1`, bech32 characters, no checksum, no length limit. */
export function encodeBolt12String(prefix: Bolt12Prefix, bytes: Uint8Array): string {
  const characters: string[] = [`${prefix}1`];
  let bits = 0;
  let buffer = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      characters.push(ALPHABET.charAt((buffer >> bits) & 31));
    }
  }
  if (bits > 0) characters.push(ALPHABET.charAt((buffer << (5 - bits)) & 31));
  return characters.join('');
}

/**
 * Reads a BOLT 12 string ("Encoding" in BOLT 12). It must be all in lower or all in upper case, with fewer than five
 * padding bits, which must be zero. Between any two characters it may have a `+` followed by whitespace. The time is
 * linear in the length.
 */
export function decodeBolt12String(
  text: string,
  prefix: Bolt12Prefix,
  invalid: Invalid,
): Uint8Array {
  requireParts(text, invalid);
  const whole = joinBolt12Parts(text);
  if (whole.slice(0, prefix.length + 1).toLowerCase() !== `${prefix}1`) {
    invalid(`it does not start with "${prefix}1"`);
  }
  if (/[a-z]/.test(whole) && /[A-Z]/.test(whole)) invalid('it mixes upper and lower case');

  const bytes = new Uint8Array(Math.floor(((whole.length - prefix.length - 1) * 5) / 8));
  let written = 0;
  let bits = 0;
  let buffer = 0;
  for (let i = prefix.length + 1; i < whole.length; i++) {
    const value = VALUES[whole.charCodeAt(i)] ?? 255;
    if (value === 255) invalid(strayCharacter(whole.charAt(i)));
    buffer = ((buffer << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[written++] = (buffer >> bits) & 0xff;
    }
  }
  if (bits >= 5) invalid('it has more padding at its end than needed');
  if ((buffer & ((1 << bits) - 1)) !== 0) invalid('its padding is not zero');
  return bytes.subarray(0, written);
}

/**
 * Returns the text without each `+` that joins two parts, and without the whitespace after it. Whether there are parts
 * on both sides is not checked.
 */
export function joinBolt12Parts(text: string): string {
  return text.replace(/\+\s*/g, '');
}

function requireParts(text: string, invalid: Invalid): void {
  if (/\+\s*$/.test(text)) invalid('it ends in a "+", so a part of it is missing');
  if (/^\+|\+\s*\+/.test(text)) invalid('a "+" in it is not between two characters');
}

/** Names a space separately: in the query of a URL a `+` means a space, so this is how a `+` is usually lost. */
function strayCharacter(character: string): string {
  return WHITESPACE.test(character)
    ? 'it has a space without a "+" before it (in the query of a URL, write "+" as %2B)'
    : 'it has a character that is not allowed';
}
