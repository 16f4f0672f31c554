/** Where a journal ended when its newest row was removed: readers may have gone on from there. */
export const journalTips = `
CREATE TABLE journal_tip (
  wallet TEXT PRIMARY KEY,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;
