/**
 * Adds the words of the store's advances, by which a branch of its history is told from its trunk, and what became of a
 * restored copy (docs/decisions.md 145). Advances that were made before have no word.
 */
export const advances = `
CREATE TABLE advance (
  count INTEGER PRIMARY KEY,
  word TEXT NOT NULL
) STRICT;
ALTER TABLE meta ADD COLUMN confirmed_at INTEGER NOT NULL DEFAULT 0;
-- The highest count that a marker held of a copy that is not confirmed; null while the store is trusted.
ALTER TABLE meta ADD COLUMN unconfirmed INTEGER;
`;
