import { addRow, hasRow, type RowSet, rowSet } from './row-set.ts';

/**
 * Marks of a bundle, as many as SQLite keeps with the beginning of its row: one for the first characters of each word,
 * some of which share one. A bundle without the mark of a word does not have it.
 */
const MARKS = 2046;
/** What the words of ids begin with, and the characters that have a mark: behind it, and of other words. */
const [HASH, MARKED] = [35, 3] as const;

export const noMarks = (): RowSet => rowSet(MARKS);

/** Marks the word that a text has between two places. A shorter one than has a mark may be in every bundle. */
export function markWord(marks: RowSet, text: string, from: number, to: number): void {
  const mark = markOf(text, from, to);
  if (mark !== null) addRow(marks, mark);
}

/** Marks the word of the id that a text has from a place on. */
export function markHash(marks: RowSet, text: string, from: number): void {
  addRow(marks, mixed(HASH, text, from));
}

/** Whether there may be a word that begins so. */
export function mayHave(marks: string, start: string): boolean {
  const mark = markOf(start, 0, start.length);
  return mark === null || hasRow(marks, mark);
}

function markOf(text: string, from: number, to: number): number | null {
  const isHash = text.charCodeAt(from) === HASH;
  const begin = isHash ? from + 1 : from;
  return begin + MARKED > to ? null : mixed(isHash ? HASH : 0, text, begin);
}

function mixed(sign: number, text: string, from: number): number {
  let mix = sign;
  for (let at = from; at < from + MARKED; at++) {
    mix = Math.imul(mix ^ text.charCodeAt(at), 16_777_619);
  }
  return (mix >>> 0) % MARKS;
}
