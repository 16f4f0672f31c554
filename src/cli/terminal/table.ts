import { printable } from '../../lib/printable.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string;
  /** Whether the cells are aligned to the right, as numbers are. */
  readonly right?: boolean;
  /** The largest width in characters. Longer cells end in an ellipsis. */
  readonly most?: number;
  /** The width down to which cells may be cut so that the table fits; without it they are never cut. */
  readonly least?: number;
  /** Where cells are cut so that the table fits: ids keep both ends. */
  readonly cut?: 'middle';
  /** Columns with the lowest number are left out first, where cutting is not enough; without it a column stays. */
  readonly leaves?: number;
  /** Whether it is left out where no row has anything in it. */
  readonly isOptional?: true;
}

const GAP = '  ';

/**
 * Returns the lines of a table with a heading. Text of others in the cells is made safe for the terminal. A table that
 * is wider than `width` is cut where its columns allow it; null is no limit.
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number | null = null,
): string[] {
  const measured = columns
    .filter(({ isOptional, of }) => !isOptional || rows.some((row) => of(row) !== ''))
    .map((column) => measure(column, rows));
  const kept = width === null ? measured : withoutSurplus(measured, width);
  const widths = width === null ? kept.map(({ natural }) => natural) : shrunk(kept, width);
  return Array.from({ length: rows.length + 1 }, (_, line) =>
    kept
      .map(({ cells, column }, at) => {
        const cell = shortened(cells[line] ?? '', widths[at], column.cut);
        return padded(cell, widths[at] ?? 0, column.right ?? false);
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** Returns lines of labels and values. Null values are left out. Text of others is made safe for the terminal. */
export function fields(entries: Readonly<Record<string, string | null>>): string[] {
  const shown = Object.entries(entries).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  const width = Math.max(0, ...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `${label.padEnd(width)}  ${printable(value)}`);
}

interface Measured<Row> {
  readonly column: Column<Row>;
  /** The title first. */
  readonly cells: readonly string[];
  readonly natural: number;
}

function measure<Row>(column: Column<Row>, rows: readonly Row[]): Measured<Row> {
  const { title, of, most } = column;
  const cells = [title, ...rows.map((row) => shortened(printable(of(row)), most))];
  return { column, cells, natural: Math.max(...cells.map((cell) => Bun.stringWidth(cell))) };
}

/** Leaves out empty columns where the table is too wide, then others until it fits when cut as far as it may be. */
function withoutSurplus<Row>(all: readonly Measured<Row>[], width: number): Measured<Row>[] {
  if (totalWidth(all.map(({ natural }) => natural)) <= width) return [...all];
  // What is nowhere filled in says less than any text that would be cut for it.
  let kept = all.filter(({ cells }) => cells.some((cell, line) => line > 0 && cell !== ''));
  const leaving = all
    .filter(({ column }) => column.leaves !== undefined)
    .toSorted((a, b) => (a.column.leaves ?? 0) - (b.column.leaves ?? 0));
  for (const next of leaving) {
    if (totalWidth(kept.map(leastWidth)) <= width) break;
    kept = kept.filter((one) => one !== next);
  }
  return kept;
}

/** Takes width from the widest column that may be cut, until the table fits or none may be cut further. */
function shrunk<Row>(columns: readonly Measured<Row>[], width: number): number[] {
  const widths = columns.map(({ natural }) => natural);
  while (totalWidth(widths) > width) {
    const spare = (at: number) => {
      const one = columns[at];
      return one && (widths[at] ?? 0) > leastWidth(one) ? (widths[at] ?? 0) : 0;
    };
    const widest = widths.reduce((best, _, at) => (spare(at) > spare(best) ? at : best), 0);
    if (spare(widest) === 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

function leastWidth<Row>({ column, natural }: Measured<Row>): number {
  const least = Math.max(column.least ?? natural, Bun.stringWidth(column.title));
  return Math.min(natural, least);
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one, 0) + GAP.length * (widths.length - 1);
}

function padded(cell: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - Bun.stringWidth(cell)));
  return right ? `${space}${cell}` : `${cell}${space}`;
}

function shortened(cell: string, most: number | undefined, cut?: 'middle'): string {
  if (most === undefined || Bun.stringWidth(cell) <= most) return cell;
  if (cut === 'middle') {
    const end = Math.floor((most - 1) / 2);
    return `${cell.slice(0, most - 1 - end)}…${cell.slice(cell.length - end)}`;
  }
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(cell)) {
    if (Bun.stringWidth(kept + segment) >= most) break;
    kept += segment;
  }
  return `${kept}…`;
}
