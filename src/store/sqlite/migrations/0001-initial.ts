/**
 * The first schema. `wallet` is the hex user_pk, `idx` a payment index; amounts are millisatoshis, times are
 * milliseconds. The cache and the journal hold each payment as the JSON of its answer, beside the columns that queries
 * use.
 */
export const initialSchema = `
CREATE TABLE cache (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  status TEXT NOT NULL,
  direction TEXT NOT NULL,
  rail TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX cache_by_status ON cache (wallet, status, idx);

CREATE TABLE cache_cursor (
  wallet TEXT PRIMARY KEY,
  updated_idx TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE feed_cursor (
  wallet TEXT PRIMARY KEY,
  cursor TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  id TEXT NOT NULL,
  updated_idx TEXT NOT NULL,
  status TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX journal_by_update ON journal (wallet, updated_idx);
CREATE INDEX journal_by_id ON journal (wallet, id, idx);
CREATE INDEX journal_open ON journal (wallet, idx) WHERE status = 'pending';

CREATE TABLE watch (
  wallet TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (wallet, kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE credential (
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  credentials TEXT NOT NULL,
  PRIMARY KEY (wallet, client_pk)
) STRICT, WITHOUT ROWID;

CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  state TEXT NOT NULL,
  body TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  due_at INTEGER,
  delivered_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX delivery_due ON delivery (due_at) WHERE state = 'pending';
CREATE INDEX delivery_by_wallet ON delivery (wallet, seq);
CREATE INDEX delivery_settled ON delivery (seq) WHERE state != 'pending' AND body IS NOT NULL;

CREATE TABLE idempotency (
  wallet TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  idx TEXT,
  http_status INTEGER,
  body TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (wallet, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE budget (
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  period TEXT NOT NULL,
  max_payment_msat INTEGER,
  PRIMARY KEY (wallet, client_pk)
) STRICT, WITHOUT ROWID;

CREATE TABLE spending (
  wallet TEXT NOT NULL,
  client_pk TEXT NOT NULL,
  at INTEGER NOT NULL,
  idx TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  PRIMARY KEY (wallet, client_pk, at, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_by_payment ON spending (wallet, idx);

CREATE TABLE connector_state (
  wallet TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (wallet, kind, key)
) STRICT, WITHOUT ROWID;
`;
