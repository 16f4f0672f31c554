import type { Database } from 'bun:sqlite';
import { type Bundled, bundleOf } from '../../../words/bundle.ts';

/** Payments of a bundle. */
const AT_ONCE = 200;

/**
 * Makes the bundles of the words of cached payments anew (docs/decisions.md 193): frequent words and filters as sets of
 * payments, the others as lines. Payments that are in no bundle yet are loose.
 */
export function wordSets(db: Database): void {
  db.run(`
DROP TABLE word_bundle;
CREATE TABLE word_bundle (
  id INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  marks TEXT NOT NULL,
  sets TEXT NOT NULL,
  ids TEXT NOT NULL,
  times TEXT NOT NULL,
  lines TEXT NOT NULL
) STRICT;
CREATE INDEX word_bundle_by_since ON word_bundle (wallet, since, id);
CREATE INDEX word_bundle_by_until ON word_bundle (wallet, until, id);
CREATE TABLE word_loose (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;`);
  const insert = db.query(
    `INSERT INTO word_bundle (wallet, since, until, marks, sets, ids, times, lines)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const read = db.query<Bundled & { wallet: string }, []>(
    'SELECT wallet, idx, status, direction, rail, words FROM cache ORDER BY wallet, idx',
  );
  let rows: (Bundled & { wallet: string })[] = [];
  const write = () => {
    const [first] = rows;
    if (first === undefined) return;
    const { since, until, marks, sets, ids, times, lines } = bundleOf(rows);
    insert.run(first.wallet, since, until, marks, sets, ids, times, lines);
    rows = [];
  };
  for (const row of read.iterate()) {
    if (rows.length === AT_ONCE || (rows.length > 0 && rows[0]?.wallet !== row.wallet)) write();
    rows.push(row);
  }
  write();
}
