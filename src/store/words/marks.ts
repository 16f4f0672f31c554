import { addRow, hasRow, type RowSet, rowSet } from './row-set.ts';

/**
 * Marks of a bundle, as many as SQLite keeps with the beginning of its row: one for the first characters of each word,
 * some of which share one. A bundle without the mark of a word does not have it.
 */
const MARKS = 2046;
/** What the words of ids begin with, and the characters of a word that have a mark. */
const [HASH, MARKED, MARKED_OF_HASH] = [35, 3, 4] as const;

export const noMarks = (): RowSet => rowSet(MARKS);

/** Marks the word that a text has between two places. A shorter one than has a mark is in every bundle. */
export function markWord(marks: RowSet, text: string, from: number, to: number): void {
  const mark = markOf(text, from, to);
  if (mark !== null) addRow(marks, mark);
}

/** Whether there may be a word that begins so. */
export function mayHave(marks: string, start: string): boolean {
  const mark = markOf(start, 0, start.length);
  return mark === null || hasRow(marks, mark);
}

function markOf(text: string, from: number, to: number): number | null {
  const end = from + (text.charCodeAt(from) === HASH ? MARKED_OF_HASH : MARKED);
  if (end > to) return null;
  let mixed = 0;
  for (let at = from; at < end; at++) mixed = Math.imul(mixed ^ text.charCodeAt(at), 16_777_619);
  return (mixed >>> 0) % MARKS;
}
