import type { Database } from 'bun:sqlite';
import { rebuildWithRowids } from '../../../lib/databases/rowid-table.ts';

/** Tables of version 9 with rows that can be as large as a payment, an invoice or an answer. */
const LARGE = ['spend', 'fetched_invoice', 'idempotency', 'connector_state', 'cache'];

/** The id of a payment is the end of its index, and its updated index follows, so neither is stored again. */
const JOURNAL = `
ALTER TABLE journal RENAME TO first_journal;
CREATE TABLE journal (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  json TEXT NOT NULL,
  attempt INTEGER,
  after_attempt INTEGER,
  PRIMARY KEY (wallet, idx)
) STRICT;
INSERT INTO journal
  SELECT wallet, idx, CAST(substr(updated_idx, 2, 19) AS INTEGER), status, json, attempt, after_attempt
  FROM first_journal ORDER BY wallet, updated_idx;
DROP TABLE first_journal;
CREATE UNIQUE INDEX journal_by_update ON journal (wallet, updated_at);
CREATE INDEX journal_by_id ON journal (wallet, substr(idx, 21), idx);
CREATE INDEX journal_by_attempt ON journal (wallet, substr(idx, 21), attempt) WHERE attempt IS NOT NULL;
CREATE INDEX journal_open ON journal (wallet, idx) WHERE status = 'pending';
`;

/** An index for each filter of a list, with the columns of all filters, so that rows that do not fit are not read. */
const FILTERS = `
DROP INDEX cache_by_status;
CREATE INDEX cache_by_status ON cache (wallet, status, idx, direction, rail);
CREATE INDEX cache_by_direction ON cache (wallet, direction, idx, rail, status);
CREATE INDEX cache_by_rail ON cache (wallet, rail, idx, direction, status);
`;

/** The tenth step of the schema: a payment takes about the disk that its JSON needs (docs/decisions.md 123). */
export function compactRows(db: Database): void {
  for (const table of LARGE) rebuildWithRowids(db, table);
  db.run(JOURNAL);
  db.run(FILTERS);
}
