import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { plannedOnce } from '../../src/lib/databases/planned-once.ts';

test('changes no value that is bound, numbered or not', () => {
  const db = new Database(':memory:', { safeIntegers: true });
  const values = ['007', '', 2n ** 62n, 1.5, null, new Uint8Array([0, 255])];
  const both = db.prepare(plannedOnce('SELECT ?1 AS a, typeof(?1) AS kind'));
  const one = db.prepare(plannedOnce('SELECT ? AS a'));
  const kinds = ['text', 'text', 'integer', 'real', 'null', 'blob'];
  for (const [at, value] of values.entries()) {
    expect(both.get(value as never)).toEqual({ a: value, kind: kinds[at] });
    expect(one.get(value as never)).toEqual({ a: value });
  }
  db.close();
});

test('compares with a column as a bare parameter does, by the same index', () => {
  const db = new Database(':memory:');
  db.run('CREATE TABLE t (text TEXT, number INTEGER) STRICT');
  db.run('CREATE INDEX t_by_both ON t (text, number)');
  db.run("INSERT INTO t VALUES ('7', 1), ('7', 2), ('8', 3)");
  const sql = 'SELECT number FROM t WHERE text = ? AND number > ? ORDER BY number LIMIT ?';
  for (const text of [sql, plannedOnce(sql)]) {
    expect(db.prepare(text).all('7', '1', 5)).toEqual([{ number: 2 }]);
    expect(db.prepare(text).all(7, 0, 1)).toEqual([{ number: 1 }]);
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all('7', 0, 5);
    expect(plan).toMatchObject([
      { detail: 'SEARCH t USING COVERING INDEX t_by_both (text=? AND number>?)' },
    ]);
  }
  db.close();
});
