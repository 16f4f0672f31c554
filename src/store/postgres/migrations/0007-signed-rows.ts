/**
 * Adds the MAC of rows (docs/decisions.md 171), which are signed after this step. What a client spent in the periods of
 * its budget moves into the row of the budget, newest first.
 */
export const signedRows = `
ALTER TABLE client ADD COLUMN mac TEXT;
ALTER TABLE budget ADD COLUMN spent TEXT NOT NULL DEFAULT '[]';
ALTER TABLE budget ADD COLUMN mac TEXT;
ALTER TABLE spending ADD COLUMN mac TEXT;
ALTER TABLE spend ADD COLUMN mac TEXT;
ALTER TABLE fetched_invoice ADD COLUMN mac TEXT;
ALTER TABLE journal ADD COLUMN mac TEXT;
ALTER TABLE given_way ADD COLUMN mac TEXT;
ALTER TABLE cache ADD COLUMN mac TEXT;
ALTER TABLE name ADD COLUMN mac TEXT;
ALTER TABLE webhook_endpoint ADD COLUMN mac TEXT;
ALTER TABLE delivery ADD COLUMN mac TEXT;
ALTER TABLE idempotency ADD COLUMN mac TEXT;
UPDATE budget SET spent = found.spent FROM (
  SELECT wallet, client_pk,
    json_agg(json_build_array(starts_at, amount_msat::text) ORDER BY starts_at DESC)::text AS spent
  FROM spent GROUP BY wallet, client_pk) found
WHERE budget.wallet = found.wallet AND budget.client_pk = found.client_pk;
DROP TABLE spent;
`;
