import { bech32 } from '@scure/base';
import { wordOfLetter } from '../bech32-letters.ts';
import { fieldPlaces, readInteger } from './fields.ts';
import {
  DEFAULT_EXPIRY_SECS,
  FIELD,
  invalid,
  requireLength,
  SIGNATURE_WORDS,
  TIMESTAMP_WORDS,
} from './invoice.ts';
import { notOne, readPrefix } from './prefix.ts';

/** Words of the bech32 checksum. */
const CHECKSUM_WORDS = 6;

/**
 * Returns when an invoice was made, in seconds, without checking the rest of it. Use it only for invoices that are
 * known to be valid. Throws CodecError('bolt11') for a text without a timestamp.
 */
export function timestampOf(invoice: string): number {
  const letters = dataPartOf(invoice).slice(0, TIMESTAMP_WORDS);
  if (letters.length < TIMESTAMP_WORDS) invalid('it has no timestamp');
  return readInteger(wordsOf(letters, 'timestamp'));
}

/**
 * Returns when an invoice expires, in milliseconds. Like {@link timestampOf} it does not check the rest of the invoice.
 * Throws CodecError('bolt11') also where a field is cut off.
 */
export function expiresAtMsOf(invoice: string): number {
  const timestampSecs = timestampOf(invoice);
  const words = fieldOf(invoice, FIELD.expiry);
  return (timestampSecs + (words ? readInteger(words) : DEFAULT_EXPIRY_SECS)) * 1000;
}

/**
 * Returns the description of an invoice; null where it has none, or only the hash of one. Like {@link expiresAtMsOf} it
 * does not check the rest of the invoice. Bytes that are not UTF-8 become U+FFFD.
 */
export function descriptionOf(invoice: string): string | null {
  const words = fieldOf(invoice, FIELD.description);
  const bytes = words && bech32.fromWordsUnsafe([...words]);
  return bytes ? Buffer.from(bytes).toString('utf8') : null;
}

/** Returns the words of a field. Of those before it only their lengths are read, since long histories have many. */
function fieldOf(invoice: string, wanted: number): readonly number[] | undefined {
  const letters = dataPartOf(invoice).slice(TIMESTAMP_WORDS, -(SIGNATURE_WORDS + CHECKSUM_WORDS));
  const places = fieldPlaces(letters.length, (at) => {
    const letter = letters[at];
    return letter === undefined ? undefined : wordOf(letter, 'data');
  });
  for (const { type, begin, end } of places) {
    if (type === wanted) return wordsOf(letters.slice(begin, end), 'data');
  }
  return undefined;
}

/**
 * Returns what an invoice asks for, in millisatoshis; null where the payer chooses. Like {@link expiresAtMsOf} it does
 * not check the rest of the invoice. Throws CodecError('bolt11') for another text, and for an amount of zero.
 */
export function amountMsatOf(invoice: string): bigint | null {
  requireLength(invoice);
  const separator = invoice.lastIndexOf('1');
  if (separator < 0) notOne();
  return readPrefix(invoice.slice(0, separator).toLowerCase()).amountMsat;
}

/** Returns the letters after the last `1`, which separates them from the human-readable part (BIP 173). */
function dataPartOf(invoice: string): string {
  const separator = invoice.lastIndexOf('1');
  return separator < 0 ? '' : invoice.slice(separator + 1);
}

function wordsOf(letters: string, part: string): number[] {
  return Array.from(letters, (letter) => wordOf(letter, part));
}

function wordOf(letter: string, part: string): number {
  return wordOfLetter(letter) ?? invalid(`its ${part} is not bech32`);
}
