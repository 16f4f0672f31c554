/** Tables of offers and of the invoices made for them. Times are in milliseconds. */
export const OFFER_TABLES = `
CREATE TABLE offers (
  offer_id TEXT PRIMARY KEY,
  offer TEXT NOT NULL,
  -- The wallet that issued it; null for the outside world.
  user_pk TEXT,
  -- What the outside world does with a payment: settle, fail, hold.
  behavior TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  -- The wallet's own id for what is paid on it.
  external_id TEXT
) STRICT, WITHOUT ROWID;

-- What both sides keep of every invoice that answered an invoice request; how it is paid stands in invoices.
CREATE TABLE offer_invoices (
  payment_hash TEXT PRIMARY KEY,
  offer_id TEXT NOT NULL REFERENCES offers (offer_id),
  invoice_request BLOB NOT NULL,
  invoice BLOB NOT NULL,
  -- The paying wallet and the key it asked with; null when the outside world pays. Its payment, null until it begins.
  payer_pk TEXT,
  payer_index TEXT,
  payer_secret_key BLOB
) STRICT;
CREATE UNIQUE INDEX offer_invoices_by_payer ON offer_invoices (payer_pk, payer_index) WHERE payer_pk IS NOT NULL;
`;
