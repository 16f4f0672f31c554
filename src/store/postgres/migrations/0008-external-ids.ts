/**
 * Adds the callers' own ids of cached payments (docs/decisions.md 184), so that they can be looked for. The column is
 * made of the row's JSON and holds the text as JSON; the JSON of rows before this step has none. PostgreSQL's own
 * functions do not read JSON with a NUL in any text, so the member is cut out; within a text its quotes are escaped.
 */
export const externalIds = String.raw`
ALTER TABLE cache ADD COLUMN external_id TEXT COLLATE "C"
  GENERATED ALWAYS AS (substring(json FROM '"external_id":("(?:[^"\\]|\\.)*")')) STORED;
CREATE INDEX cache_by_external_id ON cache (wallet, external_id, idx) WHERE external_id IS NOT NULL;
`;
