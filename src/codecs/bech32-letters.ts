/** The letters of bech32 in the order of the five-bit words that they stand for (BIP 173). */
const LETTERS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/**
 * The word of each letter in both cases. Texts are read with it and not converted to lower case first, because that
 * would turn a Kelvin sign into a "k".
 */
const WORDS: ReadonlyMap<string, number> = new Map(
  [...LETTERS].flatMap((letter, word) => [
    [letter, word],
    [letter.toUpperCase(), word],
  ]),
);

/** Returns the word of a letter of bech32; undefined for any other character. */
export function wordOfLetter(letter: string): number | undefined {
  return WORDS.get(letter);
}

/** Writes words as letters in lower case. */
export function lettersOfWords(words: readonly number[]): string {
  return words.map((word) => LETTERS.charAt(word)).join('');
}
