/** Adds the web origins that a client may fetch from, as a JSON list (docs/decisions.md 189). */
export const origins = 'ALTER TABLE client ADD COLUMN origins TEXT;';
