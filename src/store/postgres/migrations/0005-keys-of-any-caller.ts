/**
 * Keys that every caller of a wallet meets (docs/decisions.md 148). They come here only with a copy of a database of
 * SQLite, which has marked them.
 */
export const keysOfAnyCaller = `
ALTER TABLE idempotency ADD COLUMN any_caller boolean NOT NULL DEFAULT FALSE;
`;
