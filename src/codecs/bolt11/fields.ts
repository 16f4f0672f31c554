import { invalid } from './invoice.ts';

/** The largest integer that is read from a field; more is read as this, which means "for ever". */
const LARGEST_INTEGER = 1e12;

/** A tagged field of an invoice (BOLT 11, Tagged Fields). */
interface Bolt11Field {
  readonly type: number;
  readonly words: readonly number[];
}

/** Returns the fields between timestamp and signature. Throws CodecError('bolt11') where one is cut off. */
export function* splitFields(words: readonly number[]): Generator<Bolt11Field, void, undefined> {
  for (let at = 0; at < words.length; ) {
    const [type, high, low] = [words[at], words[at + 1], words[at + 2]];
    if (type === undefined || high === undefined || low === undefined) {
      invalid('a field is cut off');
    }
    const start = at + 3;
    at = start + high * 32 + low;
    if (at > words.length) invalid('a field is cut off');
    yield { type, words: words.slice(start, at) };
  }
}

/** Returns a big-endian integer. One above 10^12 is read as that, which means "for ever". */
export function readInteger(words: readonly number[]): number {
  const value = words.reduce((sum, word) => sum * 32 + word, 0);
  return Math.min(value, LARGEST_INTEGER);
}
