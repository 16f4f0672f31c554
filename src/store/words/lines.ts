import type { SoughtWord } from '../../model/payment-search.ts';
import type { CacheQuery } from '../ports.ts';

/** The columns of a cached payment that its line says. */
interface Said {
  readonly idx: string;
  readonly direction: string;
  readonly rail: string;
  readonly words: string;
}

/** What begins words of a line that no text has, each of which stands for a filter of lists. */
const [DIRECTION, RAIL, LAST] = ['>', '<', '%'] as const;
/** Characters with which no two directions, and no two rails, begin. */
const [DIRECTION_MOST, RAIL_MOST] = [3, 2] as const;
/** The last characters of an index that a line has: the fewest by which a payment is looked for. */
const LAST_MOST = 4;
/** Where an index says the time of creation; the digits before are zeros in every index. */
const [TIME_BEGIN, TIME_END] = [3, 19] as const;
const NEW_LINE = 10;
/** Bytes of the marks of a bundle, as many as SQLite keeps in the page where a row begins. */
const MARK_BYTES = 384;
/** Characters of a word that have a mark. Of a hash the sign before it is one. */
const [MARKED, MARKED_OF_HASH] = [3, 4] as const;
const [HASH, LAST_SIGN] = ['#', LAST].map((sign) => sign.charCodeAt(0));

/**
 * Returns the line of a payment in a bundle: its time of creation, filters that never change, and its words, each
 * behind a space.
 */
export function lineOf({ idx, direction, rail, words }: Said): string {
  return `\n${idx.slice(TIME_BEGIN, TIME_END)} ${directionWord(direction)} ${railWord(rail)} ${LAST}${idx.slice(-LAST_MOST)} ${words}`;
}

const directionWord = (direction: string): string => DIRECTION + direction.slice(0, DIRECTION_MOST);
const railWord = (rail: string): string => RAIL + rail.slice(0, RAIL_MOST);

/** Returns the words that the line of a payment has which fits a query, in which these words are sought. */
export function soughtInLines(sought: readonly SoughtWord[], query: CacheQuery): SoughtWord[] {
  const { direction, rail, idPart } = query;
  return [
    ...sought,
    ...(direction === null ? [] : [[directionWord(direction)]]),
    ...(rail === null ? [] : [[railWord(rail)]]),
    // Ids are kept in the words by as many characters as those of a text.
    ...(idPart === undefined ? [] : [[`#${idPart.slice(0, 16)}`, LAST + idPart.slice(-LAST_MOST)]]),
  ];
}

/** Returns the times of creation, not in order, that the lines have in which there is each of these words. */
export function timesOfLines(lines: Uint8Array, sought: readonly SoughtWord[]): number[] {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength);
  const next = sought.map((word) => finder(bytes, word));
  const times: number[] = [];
  // Each word in turn is looked for from the line on that has those before it, until one line has all of them.
  for (let [line, has, turn] = [0, 0, 0]; ; turn = (turn + 1) % next.length) {
    const at = next[turn]?.(line) ?? bytes.length;
    if (at === bytes.length) return times;
    let begin = at;
    while (begin > 0 && bytes[begin] !== NEW_LINE) begin -= 1;
    has = begin === line ? has + 1 : 1;
    line = begin;
    if (has < next.length) continue;
    const time = bytes.toString('latin1', begin + 1, begin + 1 + TIME_END - TIME_BEGIN);
    times.push(Number(time));
    has = 0;
    line = bytes.indexOf(NEW_LINE, at);
    if (line < 0) return times;
  }
}

/** Returns what finds the next place, from a byte on, of a word that begins so; the end where there is none. */
function finder(bytes: Buffer, word: SoughtWord): (from: number) => number {
  const starts = word.map((start) => ({ text: Buffer.from(` ${start}`), at: -1 }));
  return (from) => {
    let first = bytes.length;
    for (const start of starts) {
      if (start.at < from) {
        const found = bytes.indexOf(start.text, from);
        start.at = found < 0 ? bytes.length : found;
      }
      first = Math.min(first, start.at);
    }
    return first;
  };
}

/**
 * Returns the marks of lines: one bit for the first characters of each word, some of which share one. A bundle without
 * the mark of a sought word need not be read.
 */
export function marksOf(lines: string): Uint8Array {
  const marks = new Uint8Array(MARK_BYTES);
  for (let at = lines.indexOf(' ') + 1; at > 0; at = lines.indexOf(' ', at) + 1) {
    const bit = markOf(lines, at);
    if (bit !== null) marks[bit >> 3] = (marks[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return marks;
}

/** Returns the marks that any of these have. */
export function joinedMarks(all: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from({ length: MARK_BYTES }, (_, at) =>
    all.reduce((bits, marks) => bits | (marks[at] ?? 0), 0),
  );
}

/** Whether lines with these marks may have a line with each of these words. */
export function mayHave(marks: Uint8Array, sought: readonly SoughtWord[]): boolean {
  return sought.every((word) =>
    word.some((start) => {
      const bit = markOf(start, 0);
      return bit === null || ((marks[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
    }),
  );
}

/** Returns the bit of the word that begins at a place; null where too little of it is there, or it has none. */
function markOf(text: string, from: number): number | null {
  const sign = text.charCodeAt(from);
  const to = from + (sign === HASH ? MARKED_OF_HASH : MARKED);
  if (sign === LAST_SIGN || to > text.length) return null;
  let mixed = 0;
  for (let at = from; at < to; at++) mixed = Math.imul(mixed ^ text.charCodeAt(at), 16_777_619);
  return (mixed >>> 0) % (8 * MARK_BYTES);
}
