import type { Database } from 'bun:sqlite';

/**
 * Rebuilds a WITHOUT ROWID table of SQLite as a rowid table with the same columns, rows and indexes. Migrations call
 * it, so what it does never changes. The caller opens the transaction.
 *
 * Rows of a WITHOUT ROWID table lie in the tree of its key, where all beyond a quarter of a page goes to a page of its
 * own: a row of 1 kB took 4 kB.
 */
export function rebuildWithRowids(db: Database, table: string): void {
  const schema = db.query<{ type: string; sql: string }, [string]>(
    'SELECT type, sql FROM sqlite_schema WHERE tbl_name = ? AND sql IS NOT NULL',
  );
  const objects = schema.all(table);
  const first = `first_${table}`;
  db.run(`ALTER TABLE ${table} RENAME TO ${first}`);
  const [created] = objects.filter(({ type }) => type === 'table');
  if (!created) throw new Error(`there is no table ${table}`);
  db.run(created.sql.replace(/,\s*WITHOUT ROWID\s*$/, ''));
  db.run(`INSERT INTO ${table} SELECT * FROM ${first}`);
  db.run(`DROP TABLE ${first}`);
  for (const { type, sql } of objects) if (type === 'index') db.run(sql);
}
