/**
 * Keys that version 0.1 bound to a wallet are met by every caller of it. The step to clients had given them to the
 * owner, so that a client which repeated its request paid again. What names an effect or holds credentials was
 * certainly written for the owner by a later version; the other rows of the owner may be of version 0.1 (see
 * docs/decisions.md 148). An answer 202 is not final, as it was in version 0.1.
 */
export const keysOfAnyCaller = `
ALTER TABLE idempotency ADD COLUMN any_caller INTEGER NOT NULL DEFAULT 0;
UPDATE idempotency SET http_status = NULL, body = NULL WHERE http_status = 202 AND idx IS NOT NULL;
UPDATE idempotency SET any_caller = 1
  WHERE caller = 'owner' AND effect IS NULL AND subject IS NULL
    AND (idx IS NOT NULL OR body IS NOT NULL OR gone);
`;
