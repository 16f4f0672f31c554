import { asciiWords } from '../lib/ascii-words.ts';
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
const LONG = /[^ ]{65}/;
/** What a word has behind the characters that are kept. */
const BEYOND_MOST = /(?<=[^ ]{64})[^ ]+/g;

/** The scripts that write no space between words. */
const UNSPACED = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]`;
/** A word, a character of a script without spaces, or a symbol such as a cup of coffee. */
const WORDS = new RegExp(
  String.raw`${UNSPACED}|[[\p{L}\p{N}]--${UNSPACED}]+|\p{Extended_Pictographic}`,
  'gv',
);
/** Numbers with commas or points between their digits. */
const NUMBERS = /\d+(?:[.,]\d+)+/g;
/** The unit of an amount as it is shown, which is no word of a payment. */
const AFTER_AMOUNT = /(?<=\d ?)\bsats?\b/g;
const DECIMAL_COMMA = /^\d+,\d{1,2}$/;
/** What an index or an id has before its hex characters. */
const BEFORE_HEX = /\b(?:u?\d{19}-)?(?:ln|fs|fr|os|or)_(?=[0-9a-f]{64}\b)/g;

/**
 * Returns the words by which a payment is found, with a space between: of its texts, of its amount and price, and its
 * ids behind a sign of their own. A store compares them as they are (docs/decisions.md 193).
 */
export function searchWordsOf(payment: Payment): string {
  const { description, personalNote, message, payerName, externalId, address } = payment;
  const { index, refundOf, hash, txid, offerId, amountMsat, price } = payment;
  const texts = [description, personalNote, message, payerName, externalId, address];
  const ascii = asciiWords(texts);
  let words = ascii && !ascii.hasNumbers ? ascii.words : wordsAndNumbers(texts.join('\n'));
  if (amountMsat !== null) words += ` ${formatAmountMsat(amountMsat)}`;
  if (price) words += ` ${price.amount} ${price.currency.toLowerCase()}`;
  const id = index.slice(-64);
  words += ` ${HEX}${id.slice(0, HEX_MOST)}`;
  for (const hex of [refundOf?.slice(-64), hash === id ? null : hash, txid, offerId]) {
    if (hex) words += ` ${HEX}${hex.slice(0, HEX_MOST)}`;
  }
  return withoutBeyond(words.trimStart());
}

/** Returns the words of a text, and behind them its numbers without commas. */
function wordsAndNumbers(text: string): string {
  const plainText = plain(text);
  let words = wordsOf(plainText);
  for (const number of plainText.match(NUMBERS) ?? []) words += ` ${withoutCommas(number)}`;
  return words;
}

function withoutBeyond(words: string): string {
  // Few texts have so long a word, and looking for one takes a fourth of the time of a replacement. Half a character
  // of a pair would be stored as another one, and so not be found.
  return LONG.test(words) ? words.replace(BEYOND_MOST, '').toWellFormed() : words;
}

/** Returns the words of a search, each of which a payment must have. A search without any finds every payment. */
export function soughtWords(search: string): SoughtWord[] {
  const text = plain(search).replace(BEFORE_HEX, '').replace(AFTER_AMOUNT, '');
  const numbers = (text.match(NUMBERS) ?? []).map((number) => [
    withoutCommas(number),
    // Many write a price with a comma before its decimals.
    ...(DECIMAL_COMMA.test(number) ? [number.replace(',', '.')] : []),
  ]);
  const rest = wordsOf(text.replace(NUMBERS, ' '));
  const words = (rest === '' ? [] : rest.split(' ')).map((word) => {
    const whole = withoutBeyond(word);
    return HEX_PART.test(word) ? [whole, HEX + whole.slice(0, HEX_MOST)] : [whole];
  });
  return [...numbers, ...words];
}

/** Returns a text without accents and in one case. Text that is compatible, such as a ligature, is the same. */
function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ');
}

/** Returns the words of a plain text, with a space between. */
function wordsOf(plainText: string): string {
  return (plainText.match(WORDS) ?? []).join(' ');
}

function withoutCommas(number: string): string {
  return number.replaceAll(',', '');
}
