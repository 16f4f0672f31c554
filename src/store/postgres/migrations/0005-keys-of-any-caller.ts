/** Keys that every caller meets (docs/decisions.md 148); they come with a copy of a database of SQLite. */
export const keysOfAnyCaller = `
ALTER TABLE idempotency ADD COLUMN any_caller boolean NOT NULL DEFAULT FALSE;
`;
