/**
 * Adds the MAC of rows (docs/decisions.md 171), and with which key rows are signed. What a client spent in the periods
 * of its budget moves into the row of the budget, newest first.
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
ALTER TABLE connector_state ADD COLUMN mac TEXT;
-- The id of the key; null while rows are not signed.
ALTER TABLE meta ADD COLUMN signed_with TEXT;
UPDATE budget SET spent = (
  SELECT json_group_array(json_array(starts_at, amount_msat)) FROM (
    SELECT starts_at, amount_msat FROM spent s
    WHERE s.wallet = budget.wallet AND s.client_pk = budget.client_pk ORDER BY starts_at DESC));
DROP TABLE spent;
`;
