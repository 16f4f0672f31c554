import { Database } from 'bun:sqlite';
import { openDatabase } from './open.ts';
import { requireFittingKey, type SigningOptions } from './signing.ts';

/** A value of SQLite, where every integer is a bigint. */
type StoredValue = string | bigint | Uint8Array | null;

interface StoredRows {
  /** The rows of a table, in the order in which they were made where the table has one. */
  rows(table: string): Iterable<Readonly<Record<string, StoredValue>>>;
  /** Whether rows are signed, and the copies of them therefore too. */
  readonly isSigned: boolean;
  close(): void;
}

/** Opens a store's rows, its schema brought up to date; the caller owns the directory. Throws StoreUnusable. */
export function openStoredRows(path: string, signing: SigningOptions): StoredRows {
  const current = openDatabase(path);
  const isSigned = requireFittingKey(current, signing).signed_with !== null;
  // Then the file alone holds everything, without the log beside it.
  current.run('PRAGMA wal_checkpoint(TRUNCATE)');
  current.close();
  const db = new Database(path, { readwrite: true, safeIntegers: true });
  return {
    rows: (table) =>
      db.query<Record<string, StoredValue>, []>(`SELECT * FROM "${table}" ORDER BY 1`).iterate(),
    isSigned,
    close: () => db.close(),
  };
}
