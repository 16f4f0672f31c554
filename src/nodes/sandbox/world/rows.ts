import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite';
import { plannedOnce } from '../../../lib/databases/planned-once.ts';

/**
 * Statements on the world's file, within the caller's database transaction. A statement names its columns as the
 * members of `Row`. Amounts that may exceed 2^53 are read as text.
 */

interface OnFile {
  readonly db: Database;
}

/** Returns the first row, or null. */
export function firstRow<Row>(
  { db }: OnFile,
  sql: string,
  ...values: SQLQueryBindings[]
): Row | null {
  return statementOf<Row>(db, sql).get(...values);
}

/** Returns all rows. */
export function allRows<Row>({ db }: OnFile, sql: string, ...values: SQLQueryBindings[]): Row[] {
  return statementOf<Row>(db, sql).all(...values);
}

/** Runs a statement that changes rows, and returns how many it changed. */
export function change({ db }: OnFile, sql: string, ...values: SQLQueryBindings[]): number {
  return statementOf(db, sql).run(...values).changes;
}

/** Inserts a row, given by its columns. Returns how many rows were inserted, which `onConflict` may make 0. */
export function insertRow(
  { db }: OnFile,
  table: string,
  row: Readonly<Record<string, SQLQueryBindings>>,
  onConflict = '',
): number {
  const columns = Object.keys(row);
  const values = columns.map(() => '?').join(', ');
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values}) ${onConflict}`;
  return change({ db }, sql, ...Object.values(row));
}

/** The statements of each file by their text, which are as many as there are calls. `db.query` keeps twenty. */
const statements = new WeakMap<Database, Map<string, Statement<unknown, SQLQueryBindings[]>>>();

function statementOf<Row>(db: Database, sql: string): Statement<Row, SQLQueryBindings[]> {
  const own = statements.get(db) ?? new Map();
  statements.set(db, own);
  const statement = own.get(sql) ?? db.prepare(plannedOnce(sql));
  own.set(sql, statement);
  return statement;
}

/** Closes the file with its statements, which would otherwise keep it open. */
export function closeFile(db: Database): void {
  for (const statement of statements.get(db)?.values() ?? []) statement.finalize();
  db.close();
}
