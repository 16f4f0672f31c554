/**
 * Tables of offers and LNURL services, and of the names of version 0.2, which the store has now. Amounts that may
 * exceed 2^53 are decimal text, in millisatoshis.
 */
export const SERVICE_TABLES = `
CREATE TABLE offers (
  offer_id TEXT PRIMARY KEY,
  offer TEXT NOT NULL,
  -- The wallet that issued it; null for the outside world.
  user_pk TEXT,
  -- What the outside world does with a payment: settle, fail, hold.
  behavior TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What both sides keep of every invoice that answered an invoice request; how it is paid stands in invoices.
CREATE TABLE offer_invoices (
  payment_hash TEXT PRIMARY KEY,
  offer_id TEXT NOT NULL REFERENCES offers (offer_id),
  invoice_request BLOB NOT NULL,
  invoice BLOB NOT NULL,
  -- The paying wallet, its payment (null until it pays), and the key it asked with; null when the outside world pays.
  payer_pk TEXT,
  payer_index TEXT,
  payer_secret_key BLOB
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX offer_invoices_by_payer ON offer_invoices (payer_pk, payer_index) WHERE payer_pk IS NOT NULL;

CREATE TABLE names (
  user_pk TEXT PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  offer TEXT NOT NULL,
  -- When the 24 hours began in which it can be changed.
  window_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE lnurl_services (
  id TEXT PRIMARY KEY,
  tag TEXT NOT NULL,
  min_msat TEXT NOT NULL,
  max_msat TEXT NOT NULL,
  comment_length INTEGER NOT NULL,
  description TEXT
) STRICT, WITHOUT ROWID;

-- Withdrawals that were accepted; each k1 pays one invoice.
CREATE TABLE lnurl_withdrawals (
  k1 TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES lnurl_services (id),
  invoice TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
