import { formatAmountMsat } from './amount.ts';
import type { Payment } from './payment.ts';

/** A word that is looked for: the beginnings of words of a payment, of which one must be there. */
export type SoughtWord = readonly string[];

/** What the words of a hash, a transaction or an id begin with, so that digits of a text are not taken for them. */
const HEX = '#';
/** What a hash is looked for by; less fits too many that is meant as a number, such as that of a table. */
const HEX_PART = /^[0-9a-f]{4,64}$/;
/** Characters of a hash that are kept: no two hashes have the same. */
const HEX_MOST = 16;
/** Characters of a word that are kept. */
const WORD_MOST = 64;

/** The scripts that write no space between words. */
const UNSPACED = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]`;
/** A word, a character of a script without spaces, or a symbol such as a cup of coffee. */
const WORDS = new RegExp(
  String.raw`${UNSPACED}|[[\p{L}\p{N}]--${UNSPACED}]+|\p{Extended_Pictographic}`,
  'gv',
);
const ASCII_WORDS = /[a-z0-9]+/g;
const ASCII = /^\p{ASCII}*$/u;
/** Numbers with commas or points between their digits. */
const NUMBERS = /\d+(?:[.,]\d+)+/g;
/** What an index or an id has before its hex characters. */
const BEFORE_HEX = /\b(?:u?\d{19}-)?(?:ln|fs|fr|os|or)_(?=[0-9a-f]{64}\b)/g;

/**
 * Returns the words by which a payment is found, each once, with a space between: of its texts, of its amount, and its
 * ids behind a sign of their own. A store compares them as they are (docs/decisions.md 193).
 */
export function searchWordsOf(payment: Payment): string {
  const { description, personalNote, message, payerName, externalId, address } = payment;
  const { index, refundOf, hash, txid, offerId, amountMsat } = payment;
  const text = plain(
    [description, personalNote, message, payerName, externalId, address].join('\n'),
  );
  const words = [...wordsIn(text), ...(text.match(NUMBERS) ?? []).map(withoutCommas)];
  if (amountMsat !== null) words.push(formatAmountMsat(amountMsat));
  for (const hex of [index.slice(-64), refundOf?.slice(-64), hash, txid, offerId]) {
    if (hex) words.push(HEX + hex.slice(0, HEX_MOST));
  }
  // A word that another one begins with finds nothing more.
  return words
    .map((word) => word.slice(0, WORD_MOST))
    .toSorted()
    .filter((word, at, sorted) => !sorted[at + 1]?.startsWith(word))
    .join(' ');
}

/** Returns the words of a search, each of which a payment must have. A search without any finds every payment. */
export function soughtWords(search: string): SoughtWord[] {
  const text = plain(search).replace(BEFORE_HEX, '');
  const numbers = (text.match(NUMBERS) ?? []).map((number) => [withoutCommas(number)]);
  const words = wordsIn(text.replace(NUMBERS, ' ')).map((word) => {
    const whole = word.slice(0, WORD_MOST);
    return HEX_PART.test(word) ? [whole, HEX + whole.slice(0, HEX_MOST)] : [whole];
  });
  return [...numbers, ...words];
}

/** Returns a text without accents and in one case. Text that is compatible, such as a ligature, is the same. */
function plain(text: string): string {
  // Most texts are ASCII, for which the rest does nothing.
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ');
}

function wordsIn(plainText: string): readonly string[] {
  return plainText.match(ASCII.test(plainText) ? ASCII_WORDS : WORDS) ?? [];
}

function withoutCommas(number: string): string {
  return number.replaceAll(',', '');
}
