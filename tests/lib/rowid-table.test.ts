import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { rebuildWithRowids } from '../../src/lib/databases/rowid-table.ts';

test('a table gets rowids and keeps its columns, rows, constraints and indexes', () => {
  const db = new Database(':memory:', { strict: true });
  db.run('CREATE TABLE other (a TEXT PRIMARY KEY) WITHOUT ROWID');
  db.run(`CREATE TABLE row (
    a TEXT NOT NULL, -- the key
    b INTEGER NOT NULL DEFAULT 7,
    PRIMARY KEY (a)
  ) STRICT, WITHOUT ROWID`);
  db.run('ALTER TABLE row ADD COLUMN c TEXT');
  db.run("CREATE UNIQUE INDEX row_by_c ON row (c) WHERE c != ''");
  db.run("INSERT INTO row VALUES ('x', 1, 'one'), ('y', 2, NULL)");
  const indexes = () =>
    db.query("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql NOT NULL").all();
  const before = indexes();

  rebuildWithRowids(db, 'row');

  expect(db.query('SELECT rowid, * FROM row ORDER BY a').all()).toEqual([
    { rowid: 1, a: 'x', b: 1, c: 'one' },
    { rowid: 2, a: 'y', b: 2, c: null },
  ]);
  expect(indexes()).toEqual(before);
  db.run("INSERT INTO row (a) VALUES ('z')");
  expect(db.query("SELECT b FROM row WHERE a = 'z'").get()).toEqual({ b: 7 });
  for (const refused of [
    "INSERT INTO row (a) VALUES ('x')",
    "INSERT INTO row (a, c) VALUES ('w', 'one')",
    "INSERT INTO row (a, b) VALUES ('w', 'text')",
  ]) {
    expect(() => db.run(refused)).toThrow(/constraint|cannot store TEXT/);
  }
  const tables = db.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  expect(tables.values().flat()).toEqual(['other', 'row']);
  db.close();
});
