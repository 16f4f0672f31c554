import { Database } from 'bun:sqlite';
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate, SCHEMA_VERSION } from '../../src/store/sqlite/migrations/index.ts';
import { openDatabase } from '../../src/store/sqlite/open.ts';
import { StoreUnusable } from '../../src/store/unusable.ts';
import { removeFolder, temporaryFolder } from '../support/folder.ts';
import { SLOW_TEST_MS } from '../support/until.ts';

setDefaultTimeout(SLOW_TEST_MS);

const folder = temporaryFolder('lost-parts');
afterAll(() => removeFolder(folder));
const path = join(folder, 'less.sqlite');

/** Returns the bytes of a file of a version of the schema. */
function fileOf(version: number): Buffer {
  rmSync(path, { force: true });
  const db = new Database(path, { create: true });
  db.run('PRAGMA journal_mode = WAL');
  db.transaction(() => migrate(db, 0, version))();
  db.close();
  return readFileSync(path);
}

/** Returns statements, each of which takes a part of the kind `losing` names away from a file. */
function losses(file: Buffer, losing: string): string[] {
  writeFileSync(path, file);
  const db = new Database(path);
  const found = db.query<{ sql: string }, []>(losing).all();
  db.close();
  return found.map(({ sql }) => sql);
}

const TABLES = `SELECT 'DROP TABLE ' || name AS sql FROM sqlite_schema
  WHERE type = 'table' AND name NOT GLOB 'cache_word_*'`;
const INDEXES = `SELECT 'DROP INDEX ' || name AS sql FROM sqlite_schema
  WHERE type = 'index' AND sql IS NOT NULL`;
const COLUMNS = `SELECT format('ALTER TABLE %s RENAME COLUMN %s TO other', t.name, c.name) AS sql
  FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table'`;

/** Returns the losses with which a file is opened, or is changed by an opening that fails. */
function accepted(file: Buffer, statements: readonly string[]): string[] {
  return statements.filter((sql) => {
    writeFileSync(path, file);
    const db = new Database(path);
    db.run(sql);
    db.close();
    const before = readFileSync(path);
    try {
      openDatabase(path).close();
      return true;
    } catch (error) {
      const isTold = error instanceof StoreUnusable && /corrupted.*backup/.test(error.message);
      return !isTold || !readFileSync(path).equals(before);
    }
  });
}

test.each([
  ['a table', TABLES, 20],
  ['an index', INDEXES, 20],
  ['a column', COLUMNS, 150],
])(
  'a file that has lost %s is refused at the start, and is not changed',
  (_part, losing, least) => {
    const file = fileOf(SCHEMA_VERSION);
    const statements = losses(file, losing);

    expect(statements.length).toBeGreaterThan(least);
    expect(accepted(file, statements)).toEqual([]);
  },
);

test('a file that has lost the row that identifies it is refused at the start', () => {
  expect(accepted(fileOf(SCHEMA_VERSION), ['DELETE FROM meta'])).toEqual([]);
});

test('a file of an earlier version that has lost a table is refused, and is not brought up to date', () => {
  for (let version = 1; version < SCHEMA_VERSION; version++) {
    const file = fileOf(version);
    expect([version, accepted(file, losses(file, TABLES))]).toEqual([version, []]);
  }
});
