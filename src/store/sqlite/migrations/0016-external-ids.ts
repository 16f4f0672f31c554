/**
 * Adds the callers' own ids of cached payments (docs/decisions.md 184), so that they can be looked for. The column is
 * made of the row's JSON and holds the text as JSON; the JSON of rows before this step has none.
 */
export const externalIds = `
ALTER TABLE cache ADD COLUMN external_id TEXT
  GENERATED ALWAYS AS (nullif(json -> '$.external_id', 'null')) VIRTUAL;
CREATE INDEX cache_by_external_id ON cache (wallet, external_id, idx) WHERE external_id IS NOT NULL;
`;
