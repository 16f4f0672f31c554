import { changesBetween } from '../lib/changes-between.ts';

/** How many changes of one character make a word another, at most, for each character of the shorter one. */
const TOLERANCE = 0.4;

/** Returns the names that a mistyped word may have meant: those that differ least from it, if that is little. */
export function similar(word: string, names: readonly string[]): string[] {
  const near = judged(word, names).filter(
    ({ name, changes }) => changes <= Math.min(word.length, name.length) * TOLERANCE,
  );
  const least = Math.min(...near.map(({ changes }) => changes));
  return near.filter(({ changes }) => changes === least).map(({ name }) => name);
}

/** Returns the three names that differ least from a word, however much that is. */
export function nearest(word: string, names: readonly string[]): string[] {
  const byChanges = judged(word, names).toSorted((a, b) => a.changes - b.changes);
  return byChanges.slice(0, 3).map(({ name }) => name);
}

function judged(word: string, names: readonly string[]) {
  return names.map((name) => ({ name, changes: changesBetween(word, name) }));
}
