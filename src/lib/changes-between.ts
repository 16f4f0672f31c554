/**
 * Returns how many characters to insert, remove, replace or swap with the next make one word another (optimal string
 * alignment).
 */
export function changesBetween(from: string, to: string): number {
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
