import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { followSteps, migrate, SCHEMA_VERSION } from '../../src/store/sqlite/migrations/index.ts';

/** A table, or an index that the schema names, without comments and the form of its text. */
interface Entry {
  readonly name: string;
  readonly table: string;
  readonly sql: string;
}

const schemaOf = (db: Database): Entry[] =>
  db
    .query<Entry, []>(
      'SELECT name, tbl_name AS "table", sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name',
    )
    .all()
    .map((entry) => ({ ...entry, sql: plain(entry.sql) }));

const plain = (sql: string) =>
  sql
    .replace(/--.*$/gm, '')
    .replaceAll('"', '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([(),]) ?/g, '$1');

/** Every row, with the kind in place of what is drawn at random. */
const rowsOf = (db: Database) =>
  schemaOf(db)
    .filter(({ name, table }) => name === table)
    .map(({ name }) => ({
      name,
      rows: db.query<object, []>(`SELECT * FROM "${name}"`).all().map(kept),
    }));

const kept = (row: object) =>
  Object.entries(row).map(([column, value]) => [
    column,
    column === 'id' || column === 'secret' ? [typeof value, value.length] : value,
  ]);

test('a new database has what the steps of the schema lead to', () => {
  const [made, migrated] = [new Database(':memory:'), new Database(':memory:')];
  migrate(made, 0);
  followSteps(migrated, 0);

  expect(schemaOf(made).length).toBeGreaterThan(40);
  expect(schemaOf(made)).toEqual(schemaOf(migrated));
  expect(rowsOf(made)).toEqual(rowsOf(migrated));
  expect(made.query('PRAGMA user_version').values()).toEqual([[SCHEMA_VERSION]]);
});

test('each new database has an id and a secret of its own', () => {
  const [one, other] = [new Database(':memory:'), new Database(':memory:')].map((db) => {
    migrate(db, 0);
    return db.query('SELECT id, hex(secret) FROM meta').values()[0] ?? [];
  });

  expect(one?.[0]).not.toBe(other?.[0]);
  expect(one?.[1]).not.toBe(other?.[1]);
});
