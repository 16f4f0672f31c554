import type { RowSigner } from '../row-signer.ts';
import type { SignedTable } from '../signed-tables.ts';
import type { Steps, Value } from './steps.ts';

/** A statement of an engine. */
export interface Query<Row> {
  /** The first row. */
  one(...values: readonly Value[]): Steps<Row | null>;
  all(...values: readonly Value[]): Steps<Row[]>;
  /** Returns how many rows were written or deleted. */
  run(...values: readonly Value[]): Steps<number>;
  /** Returns what `of` makes of the rows, without those of which it makes null. */
  read<T>(of: (row: Row) => T | null): Pick<Query<T>, 'one' | 'all'>;
}

/** A row as an engine returns it. Its numbers are no bigints. */
export type RawRow = Readonly<Record<string, unknown>>;

/**
 * What differs between the engines for functions of rows. Statements are written in SQL that both read. They name the
 * schema `wallet_sidecar`, which SQLite has not, and have `?` in the place of each value, or `?1`, `?2` where one
 * stands in several places. PostgreSQL learns the type of text and null from the place, so what is selected is cast.
 */
export interface Rows {
  /** Prepares a statement, once, when the store is opened. */
  prepare<Row = RawRow>(sql: string): Query<Row>;
  /** Returns a statement that is made when it is needed. */
  query<Row = RawRow>(sql: string): Query<Row>;
  /** Prepares a statement that ends with the name of a number's column, for many of these numbers at once. */
  prepareMany(sql: string): { run(numbers: readonly number[], ...values: Value[]): Steps<unknown> };
  /** Returns what makes SQLite use an index; nothing for PostgreSQL. */
  indexedBy(index: string): string;
  /** What locks the rows of a SELECT that no other transaction has locked; nothing for SQLite. */
  readonly lockingFree: string;
  /** A table with the column `value`: the texts of the JSON array that is given in its place. */
  readonly eachText: string;
  /**
   * Returns the rest of a FROM, up to a WHERE that has begun: for each row before it the rows of a table for which a
   * condition holds, by an index. Engines read one of the tables as a whole where they are free to choose.
   */
  forEach(table: string, index: string, condition: string): string;
  /** Returns the condition that a column is one of the numbers of the JSON array that is given in its place. */
  among(column: string): string;
  readonly forms: ColumnForms;
  readonly signer: RowSigner;
}

/** Columns of a table that are read together, and those of its key. */
export type StoredColumns<Column extends string = string> = Pick<
  SignedTable<Column>,
  'table' | 'key' | 'columns'
>;

/** How an engine stores columns. Functions of rows know SQLite's form alone. */
export interface ColumnForms {
  /** Whether rows have a MAC of their own. */
  hasMac(table: string): boolean;
  nameOf(table: string, column: string): string;
  /** Returns the values of a row's columns as they are stored. The MAC is given beside the row. */
  write(
    table: string,
    columns: readonly string[],
    row: Readonly<Record<string, Value>>,
    mac?: string | null,
  ): Value[];
  /** Returns a row in SQLite's form; null where a signed column cannot be read. `others` are columns not signed. */
  read(table: StoredColumns, raw: RawRow, others: readonly string[]): RawRow | null;
  /** Returns the value of a column that is not signed. */
  other(table: string, raw: RawRow, column: string): unknown;
}

/** What a write asks of its transaction, besides its statements. */
export interface Joint {
  /**
   * Advances the store's counter, if the write is made. Every wallet has the same counter, whose row PostgreSQL locks
   * until the commit, so it is advanced after all writes, once for all of them.
   */
  advanceCounter(): void;
}

/** Reads and transactions of an engine, for the ports. `work` is called again when it has to be done again. */
export interface RowDatabase {
  /** Does work that only reads. */
  read<T>(work: () => Steps<T>): Promise<T>;
  /** The same, with the settings of a transaction: for statements of which PostgreSQL expects more than they do. */
  readWithSettings<T>(work: () => Steps<T>): Promise<T>;
  /**
   * Does work in a transaction, which is durable when this resolves. Writes with the same lock, a wallet's id or
   * {@link NAMES}, are done one after another; null takes no lock. `work` must change nothing but the database.
   */
  write<T>(lock: string | null, work: (joint: Joint) => Steps<T>): Promise<T>;
}

/** The lock for the names of wallets, which are unique over all wallets. */
export const NAMES = 'names';
