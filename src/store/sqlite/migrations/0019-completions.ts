/**
 * Adds when cached payments were completed (docs/decisions.md 192), so that they can be read in that order. The column
 * is made of the row.
 */
export const completions = `
ALTER TABLE cache ADD COLUMN completed_at INTEGER
  GENERATED ALWAYS AS (
  CASE status WHEN 'completed' THEN coalesce(json ->> '$.finalized_at', 0) END
) VIRTUAL;
CREATE INDEX cache_by_completion ON cache (wallet, completed_at, idx) WHERE completed_at IS NOT NULL;
`;
