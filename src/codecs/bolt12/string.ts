import { bech32 } from '@scure/base';
import { lettersOfWords, wordOfLetter } from '../bech32-letters.ts';
import type { Invalid } from '../bigsize.ts';

/** The human-readable parts of BOLT 12: offer, invoice request, invoice, payer proof. */
type Bolt12Prefix = 'lno' | 'lnr' | 'lni' | 'lnp';

const WHITESPACE = /\s/;

/** Which document a text claims to be, by its first characters; null for none. Joining `+` do not count. */
export function bolt12PrefixOf(text: string): Bolt12Prefix | null {
  const kind = /^l(?:\+\s*)?n(?:\+\s*)?([orip])(?:\+\s*)?1/i.exec(text)?.[1]?.toLowerCase();
  return kind === undefined ? null : (`ln${kind}` as Bolt12Prefix);
}

/** Writes bytes as a lower-case BOLT 12 string: prefix, `1`, bech32 characters, no checksum, no length limit. */
export function encodeBolt12String(prefix: Bolt12Prefix, bytes: Uint8Array): string {
  return `${prefix}1${lettersOfWords(bech32.toWords(bytes))}`;
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

  const words = Array.from(
    whole.slice(prefix.length + 1),
    (letter) => wordOfLetter(letter) ?? invalid(strayCharacter(letter)),
  );
  const bytes = bech32.fromWordsUnsafe(words);
  if (bytes) return bytes;
  return invalid(
    (words.length * 5) % 8 >= 5
      ? 'it has more padding at its end than needed'
      : 'its padding is not zero',
  );
}

/** Returns the text without each joining `+` and the whitespace after it. Parts are not checked. */
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
