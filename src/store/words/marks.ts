import { addRow, hasRow, type RowSet, rowSet } from './row-set.ts';

/**
 * Marks of a bundle, as many as SQLite keeps with the beginning of its row: one for the first characters of each word,
 * some of which share one. A bundle without the mark of a word does not have it. Ids, of which each payment has
 * another, have marks of their own, so that they share none with other words.
 */
const [MARKS_OF_WORDS, MARKS_OF_IDS] = [682, 1364] as const;
/** What the words of ids begin with, and the characters that have a mark: behind it, and of other words. */
const [HASH, MARKED] = [35, 3] as const;

/** Returns the marks of a bundle without words. */
export const noMarks = (): RowSet => rowSet(MARKS_OF_WORDS + MARKS_OF_IDS);

/** Marks the word that a text has between two places. A shorter one than has a mark may be in every bundle. */
export function markWord(marks: RowSet, text: string, from: number, to: number): void {
  const mark = markOf(text, from, to);
  if (mark !== null) addRow(marks, mark);
}

/** Marks the word of the id that a text has from a place on. */
export function markHash(marks: RowSet, text: string, from: number): void {
  addRow(marks, markOfId(text, from));
}

/** Whether there may be a word that begins so. */
export function mayHave(marks: string, start: string): boolean {
  const mark = markOf(start, 0, start.length);
  return mark === null || hasRow(marks, mark);
}

function markOf(text: string, from: number, to: number): number | null {
  const isHash = text.charCodeAt(from) === HASH;
  if (from + MARKED + (isHash ? 1 : 0) > to) return null;
  return isHash ? markOfId(text, from + 1) : mixed(text, from) % MARKS_OF_WORDS;
}

const markOfId = (text: string, from: number): number =>
  MARKS_OF_WORDS + (mixed(text, from) % MARKS_OF_IDS);

function mixed(text: string, from: number): number {
  let mix = 0;
  for (let at = from; at < from + MARKED; at++) mix = mixedWith(mix, text.charCodeAt(at));
  return numberOf(mix);
}

/** Mixes the code of a character into the number of those before it, which begins with 0 (FNV-1). */
export const mixedWith = (mix: number, code: number): number => Math.imul(mix ^ code, 16_777_619);

/** Returns the mixed number as one that is not negative, whose lowest bits depend on its upper half too. */
export const numberOf = (mix: number): number => (mix ^ (mix >>> 15)) >>> 0;
