import type { Database } from 'bun:sqlite';
import type { Field, RowSigner } from '../row-signer.ts';
import type { SignedTable } from '../signed-tables.ts';

/** A row as it is stored, with its MAC. */
export type Stored<Columns> = Columns & { readonly mac: string | null };

/** The signed columns of a table and the MAC. */
export function columnNames<Column extends string>({
  key,
  columns,
}: SignedTable<Column>): readonly (Column | 'mac')[] {
  return [...key, ...columns, 'mac'];
}

/** {@link columnNames} as a list for SQL. */
export function columnList(table: SignedTable): string {
  return columnNames(table).join(', ');
}

/** A placeholder for each of {@link columnNames}, for SQL. */
export function placeholders(table: SignedTable): string {
  return `(${columnNames(table)
    .map(() => '?')
    .join(', ')})`;
}

/**
 * Prepares a statement that writes a whole row with its MAC; `onConflict` follows the values in it. The function
 * returns how many rows it wrote.
 */
export function rowWriter<Column extends string>(
  db: Database,
  signer: RowSigner,
  table: SignedTable<Column>,
  { verb = 'INSERT', onConflict = '' }: { verb?: 'INSERT' | 'REPLACE'; onConflict?: string } = {},
): (row: Readonly<Record<Column, Field>>) => number {
  const write = db.prepare(
    `${verb} INTO ${table.table} (${columnList(table)}) VALUES ${placeholders(table)} ${onConflict}`,
  );
  const names = [...table.key, ...table.columns];
  return (row) => write.run(...names.map((name) => row[name]), signer.mac(table, row)).changes;
}
