/**
 * Adds the sets of who made the payments of a bundle (docs/decisions.md 193), before what few searches read. What was
 * bundled before is known to have no maker only where none is kept: an empty text says that it is not known.
 */
export const bundledMakers = `
DROP INDEX word_bundle_by_since;
DROP INDEX word_bundle_by_until;
ALTER TABLE word_bundle RENAME TO older_bundle;
CREATE TABLE word_bundle (
  id INTEGER PRIMARY KEY,
  wallet TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL,
  marks TEXT NOT NULL,
  sets TEXT NOT NULL,
  makers TEXT,
  ids TEXT NOT NULL,
  times TEXT NOT NULL,
  lines TEXT NOT NULL
) STRICT;
INSERT INTO word_bundle
  SELECT id, wallet, since, until, marks, sets,
    CASE WHEN wallet IN (SELECT wallet FROM connector_state WHERE kind = 'maker') THEN '' END, ids, times, lines
  FROM older_bundle;
DROP TABLE older_bundle;
CREATE INDEX word_bundle_by_since ON word_bundle (wallet, since, id);
CREATE INDEX word_bundle_by_until ON word_bundle (wallet, until, id);
`;
