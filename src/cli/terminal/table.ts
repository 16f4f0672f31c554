import { printable } from './printable.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => string;
  /** Whether the cells are aligned to the right, as numbers are. */
  readonly right?: boolean;
  /** The largest width in characters. Longer cells end in an ellipsis. */
  readonly most?: number;
}

/** Returns the lines of a table with a heading. Text of others in the cells is made safe for the terminal. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[] {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ of, most }) => shortened(printable(of(row)), most))),
  ];
  const widths = columns.map((_, at) =>
    Math.max(...cells.map((line) => Bun.stringWidth(line[at] ?? ''))),
  );
  return cells.map((line) =>
    line
      .map((cell, at) => padded(cell, widths[at] ?? 0, columns[at]?.right ?? false))
      .join('  ')
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

function padded(cell: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - Bun.stringWidth(cell)));
  return right ? `${space}${cell}` : `${cell}${space}`;
}

function shortened(cell: string, most: number | undefined): string {
  if (most === undefined || Bun.stringWidth(cell) <= most) return cell;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(cell)) {
    if (Bun.stringWidth(kept + segment) >= most) break;
    kept += segment;
  }
  return `${kept}…`;
}
