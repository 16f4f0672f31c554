import { markWord, mixedWith, numberOf } from './marks.ts';
import { addRow, type RowSet, rowSet } from './row-set.ts';

/** What lines are made of. */
interface Worded {
  readonly idx: string;
  readonly words: string;
}

/** A word that many payments have, and those that have it. */
interface Frequent {
  readonly word: string;
  readonly set: RowSet;
}

/** The base of the number of a payment at the beginning of its line. */
export const LINE_BASE = 36;
/** Of each so many payments the words are counted: those that two of them have are taken for frequent. */
const COUNTED = 11;
/** Frequent words of a bundle at most, in a table with more places. */
const [MOST, PLACES] = [500, 1024] as const;
/** Where an index has the hex characters of its id. */
export const HEX_BEGIN = 23;
const [SPACE, HASH, NEW_LINE, BEYOND_ASCII] = [32, 35, 10, 128] as const;
/** Bytes of a character in UTF-8 at most, and of the number of a line with its sign. */
const [MOST_BYTES, LINE_BEGIN] = [3, 8] as const;

/** Where lines are written, byte by byte, which takes a third of the time of joining texts. */
let bytes = Buffer.alloc(0);

/** Returns frequent words, in whose sets nothing is yet. */
export function frequentWords(payments: readonly Worded[]): Frequent[] {
  const seen = new Set<string>();
  const frequent = new Set<string>();
  for (let at = 0; at < payments.length; at += COUNTED) {
    for (const word of new Set(payments[at]?.words.split(' '))) {
      if (seen.has(word) && frequent.size < MOST) frequent.add(word);
      else seen.add(word);
    }
  }
  // Few payments have the same ids.
  return [...frequent]
    .filter((word) => word !== '' && word.charCodeAt(0) !== HASH)
    .map((word) => ({ word, set: rowSet(payments.length) }));
}

/**
 * Adds each payment to the sets of its frequent words. Returns a line for each that has other words, which are marked:
 * its number, and behind a space each of them. Its own id is no such word.
 */
export function linesOf(
  payments: readonly Worded[],
  frequent: readonly Frequent[],
  marks: RowSet,
): string {
  const places = placesOf(frequent);
  const length = payments.reduce((sum, { words }) => sum + words.length + LINE_BEGIN, 0);
  if (bytes.length < length * MOST_BYTES) bytes = Buffer.alloc(length * MOST_BYTES);
  const [buffer, number] = [bytes, payments.length];
  let end = 0;
  for (let row = 0; row < number; row++) {
    const { idx, words } = payments[row] as Worded;
    const begin = end;
    buffer[end] = NEW_LINE;
    end += 1;
    end += buffer.write(row.toString(LINE_BASE), end);
    const empty = end;
    for (let from = 0; from < words.length; ) {
      // A word is written while its end is looked for, and overwritten where it is none of the line.
      buffer[end] = SPACE;
      let written = end + 1;
      let mix = 0;
      let codes = 0;
      let to = from;
      for (; to < words.length; to++) {
        const code = words.charCodeAt(to);
        if (code === SPACE) break;
        mix = mixedWith(mix, code);
        codes |= code;
        buffer[written] = code;
        written += 1;
      }
      const isHash = words.charCodeAt(from) === HASH;
      const found = isHash ? undefined : foundIn(places, words, from, to, mix);
      if (found) {
        addRow(found.set, row);
      } else if (!isHash || !isOwn(idx, words, from, to)) {
        markWord(marks, words, from, to);
        if (codes >= BEYOND_ASCII) {
          written = end + 1;
          written += buffer.write(words.slice(from, to), written);
        }
        end = written;
      }
      from = to + 1;
    }
    if (end === empty) end = begin;
  }
  return buffer.toString('utf8', 0, end);
}

const isOwn = (idx: string, words: string, from: number, to: number): boolean =>
  idx.startsWith(words.slice(from + 1, to), HEX_BEGIN);

/** A table in which words are found by a number of their characters. It takes a third of the time of a Map. */
function placesOf(frequent: readonly Frequent[]): (Frequent | undefined)[] {
  const places: (Frequent | undefined)[] = Array(PLACES).fill(undefined);
  for (const one of frequent) {
    let mix = 0;
    for (let at = 0; at < one.word.length; at++) mix = mixedWith(mix, one.word.charCodeAt(at));
    let place = placeOf(mix);
    while (places[place]) place = (place + 1) % PLACES;
    places[place] = one;
  }
  return places;
}

const placeOf = (mix: number): number => numberOf(mix) % PLACES;

function foundIn(
  places: readonly (Frequent | undefined)[],
  words: string,
  from: number,
  to: number,
  mix: number,
): Frequent | undefined {
  for (let place = placeOf(mix); ; place = (place + 1) % PLACES) {
    const one = places[place];
    if (one === undefined || isAt(words, from, to, one.word)) return one;
  }
}

function isAt(words: string, from: number, to: number, word: string): boolean {
  if (word.length !== to - from) return false;
  for (let at = 0; at < word.length; at++) {
    if (words.charCodeAt(from + at) !== word.charCodeAt(at)) return false;
  }
  return true;
}
