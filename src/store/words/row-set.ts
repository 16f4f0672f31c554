/**
 * A set of the rows of a bundle, or of marks: six of them in each byte, above a bit that makes it a character of ASCII.
 * So a set is stored as text, in both engines alike.
 */
export type RowSet = Uint8Array;

const [EMPTY, EACH] = [64, 6] as const;
/** The character of a set that has all of its six numbers. */
export const FULL = '\u007f';

/** Returns an empty set of numbers below `count`. */
export function rowSet(count: number): RowSet {
  return emptySet(Math.ceil(count / EACH));
}

/** Returns an empty set whose text has that many characters. */
export function emptySet(length: number): RowSet {
  return new Uint8Array(length).fill(EMPTY);
}

/** Adds a number. */
export function addRow(set: RowSet, row: number): void {
  const at = (row / EACH) | 0;
  set[at] = (set[at] ?? EMPTY) | (1 << (row % EACH));
}

/** Returns the text as which a set is stored. */
export function textOfSet(set: RowSet): string {
  return Buffer.from(set.buffer, set.byteOffset, set.byteLength).toString('latin1');
}

/** Whether a set that is stored as text has a number. */
export function hasRow(text: string, row: number): boolean {
  return (text.charCodeAt((row / EACH) | 0) & (1 << (row % EACH))) !== 0;
}

/** Adds what a set that is stored as text has. It begins at a place of a longer text. */
export function addRows(set: RowSet, text: string, from: number): void {
  for (let at = 0; at < set.length; at++) set[at] = (set[at] ?? EMPTY) | text.charCodeAt(from + at);
}

/** Takes out what the other set does not have. Returns whether anything is left. */
export function keepRows(set: RowSet, other: RowSet): boolean {
  let left = 0;
  for (let at = 0; at < set.length; at++) {
    const both = (set[at] ?? EMPTY) & (other[at] ?? EMPTY);
    set[at] = both;
    left |= both;
  }
  return left !== EMPTY;
}

/** The numbers of a set, in order. */
export function* rowsOf(set: RowSet): Iterable<number> {
  for (let at = 0; at < set.length; at++) {
    for (let one = 0; one < EACH; one++) {
      if (((set[at] ?? EMPTY) & (1 << one)) !== 0) yield at * EACH + one;
    }
  }
}
