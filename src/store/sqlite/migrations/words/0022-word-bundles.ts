import type { Database } from 'bun:sqlite';
import { createdAtOfIndex, type PaymentIndex } from '../../../../model/payment-index.ts';

/** Bytes of the marks of a bundle, and the sign before the words of hashes. */
const [MARK_BYTES, HASH] = [384, 35] as const;
/** Payments of a bundle, which makes it one that is joined to no other. */
const AT_ONCE = 200;
const LAST_LEVEL = 9;

interface Row {
  readonly wallet: string;
  readonly idx: PaymentIndex;
  readonly direction: string;
  readonly rail: string;
  readonly words: string;
}

/**
 * Keeps the words of cached payments in bundles in the place of an index (docs/decisions.md 193): a row has the words
 * of many payments, a line for each, made between two times.
 */
export function wordBundles(db: Database): void {
  db.run(`
DROP TABLE cache_word;
CREATE TABLE word_bundle (
  id INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  level INTEGER NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  marks BLOB NOT NULL,
  lines TEXT NOT NULL
) STRICT;
CREATE INDEX word_bundle_by_level ON word_bundle (wallet, level);`);
  const add = db.query(
    'INSERT INTO word_bundle (wallet, level, since, until, marks, lines) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const write = (rows: readonly Row[]) => {
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return;
    const [since, until] = [createdAtOfIndex(first.idx), createdAtOfIndex(last.idx)];
    const lines = rows.map(lineOf).join('');
    add.run(first.wallet, LAST_LEVEL, since, until, marksOf(lines), lines);
  };
  let rows: Row[] = [];
  const read = db.query<Row, []>(
    'SELECT wallet, idx, direction, rail, words FROM cache ORDER BY wallet, idx',
  );
  for (const row of read.iterate()) {
    if (rows.length === AT_ONCE || rows[0]?.wallet !== row.wallet) {
      write(rows);
      rows = [];
    }
    rows.push(row);
  }
  write(rows);
}

/** A time of creation, filters and last hex characters as words, and the words. */
function lineOf({ idx, direction, rail, words }: Row): string {
  return `\n${idx.slice(3, 19)} >${direction.slice(0, 3)} <${rail.slice(0, 2)} %${idx.slice(-4)} ${words}`;
}

/** A bit for the first characters of each word. */
function marksOf(lines: string): Uint8Array {
  const marks = new Uint8Array(MARK_BYTES);
  for (let at = lines.indexOf(' ') + 1; at > 0; at = lines.indexOf(' ', at) + 1) {
    const to = at + (lines.charCodeAt(at) === HASH ? 4 : 3);
    if (lines[at] === '%' || to > lines.length) continue;
    let mixed = 0;
    for (let one = at; one < to; one++)
      mixed = Math.imul(mixed ^ lines.charCodeAt(one), 16_777_619);
    const bit = (mixed >>> 0) % (8 * MARK_BYTES);
    marks[bit >> 3] = (marks[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return marks;
}
