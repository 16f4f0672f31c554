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

/** The number of characters to insert, remove, replace or swap with the next (optimal string alignment). */
function changesBetween(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const [above, before] = [rows[i - 1]?.[j] ?? 0, row[j - 1] ?? 0];
      const replaced = (rows[i - 1]?.[j - 1] ?? 0) + (isSame ? 0 : 1);
      const swapped = isSwap ? (rows[i - 2]?.[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(above + 1, before + 1, replaced, swapped));
    }
    rows.push(row);
  }
  return rows[from.length]?.[to.length] ?? 0;
}
