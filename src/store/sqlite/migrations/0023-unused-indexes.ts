/** Drops indexes that no statement reads any more; each had to be written for each payment. */
export const unusedIndexes = `
DROP INDEX IF EXISTS journal_by_attempt;
DROP INDEX IF EXISTS connector_state_by_key;
`;
