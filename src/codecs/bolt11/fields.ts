import { invalid } from './invoice.ts';

/** The largest integer that is read from a field; more is read as this, which means "for ever". */
const LARGEST_INTEGER = 1e12;

/** A tagged field of an invoice (BOLT 11, Tagged Fields). */
interface Bolt11Field {
  readonly type: number;
  readonly words: readonly number[];
}

/** Where a field is: its type, and the places of its first word and after its last one. */
interface FieldPlace {
  readonly type: number;
  readonly begin: number;
  readonly end: number;
}

/** Words of a field before its value: its type, and two for its length. */
const HEAD_WORDS = 3;

/**
 * Returns where the fields between timestamp and signature are, of so many words; of each only the head is read. Throws
 * CodecError('bolt11') where one is cut off.
 */
export function* fieldPlaces(
  length: number,
  wordAt: (at: number) => number | undefined,
): Generator<FieldPlace, void, undefined> {
  for (let at = 0; at < length; ) {
    const [type, high, low] = [wordAt(at), wordAt(at + 1), wordAt(at + 2)];
    if (type === undefined || high === undefined || low === undefined) {
      invalid('a field is cut off');
    }
    const begin = at + HEAD_WORDS;
    at = begin + high * 32 + low;
    if (at > length) invalid('a field is cut off');
    yield { type, begin, end: at };
  }
}

/** Returns the fields between timestamp and signature. Throws CodecError('bolt11') where one is cut off. */
export function* splitFields(words: readonly number[]): Generator<Bolt11Field, void, undefined> {
  for (const { type, begin, end } of fieldPlaces(words.length, (at) => words[at])) {
    yield { type, words: words.slice(begin, end) };
  }
}

/** Returns a big-endian integer. One above 10^12 is read as that, which means "for ever". */
export function readInteger(words: readonly number[]): number {
  const value = words.reduce((sum, word) => sum * 32 + word, 0);
  return Math.min(value, LARGEST_INTEGER);
}
