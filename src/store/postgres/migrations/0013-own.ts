/** Adds whether a client sees only what it made: 1, or null (docs/decisions.md 195). */
export const own = 'ALTER TABLE client ADD COLUMN own INTEGER;';
