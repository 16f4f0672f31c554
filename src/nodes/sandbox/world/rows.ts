import type { SQLQueryBindings } from 'bun:sqlite';
import type { World } from './world.ts';

/**
 * Statements on the world's file, within the caller's database transaction. A statement names its columns as the
 * members of `Row`. Amounts that may exceed 2^53 are read as text.
 */

/** Returns the first row, or null. */
export function firstRow<Row>(
  { db }: Pick<World, 'db'>,
  sql: string,
  ...values: SQLQueryBindings[]
): Row | null {
  return db.query<Row, SQLQueryBindings[]>(sql).get(...values);
}

/** Returns all rows. */
export function allRows<Row>(
  { db }: Pick<World, 'db'>,
  sql: string,
  ...values: SQLQueryBindings[]
): Row[] {
  return db.query<Row, SQLQueryBindings[]>(sql).all(...values);
}

/** Runs a statement that changes rows, and returns how many it changed. */
export function change(
  { db }: Pick<World, 'db'>,
  sql: string,
  ...values: SQLQueryBindings[]
): number {
  return db.query(sql).run(...values).changes;
}

/** Inserts a row, given by its columns. */
export function insertRow(
  { db }: Pick<World, 'db'>,
  table: string,
  row: Readonly<Record<string, SQLQueryBindings>>,
): void {
  const columns = Object.keys(row);
  const values = columns.map(() => '?').join(', ');
  db.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`).run(
    ...Object.values(row),
  );
}
