/**
 * Adds when cached payments were completed (docs/decisions.md 192), so that they can be read in that order. The column
 * is made of the row. The member is cut out of the JSON as external_id is; within a text its quotes are escaped.
 */
export const completions = String.raw`
ALTER TABLE cache ADD COLUMN completed_at BIGINT GENERATED ALWAYS AS (
  CASE status WHEN 'completed' THEN 
    coalesce(CAST(substring(json FROM '"finalized_at":(\d{1,16})') AS BIGINT), 0) END
) STORED;
CREATE INDEX cache_by_completion ON cache (wallet, completed_at, idx) WHERE completed_at IS NOT NULL;
`;
