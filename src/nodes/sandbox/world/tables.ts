/** Tokens of the wallets' clients. The world keeps only the hash of each token. */
export const TOKENS_TABLE = `
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  user_pk TEXT NOT NULL,
  -- SHA-256 of the token's text.
  token_hash BLOB NOT NULL,
  -- JSON list of permission ids.
  permissions TEXT NOT NULL,
  expires_ms INTEGER,
  revoked_ms INTEGER,
  -- JSON of the first version's client that the token was made for; null for all others.
  first_client TEXT
) STRICT, WITHOUT ROWID;
`;

/**
 * Tables of wallets, tokens, money, payments and the clock, and of the names of version 0.2, which the store has now.
 * Amounts are in millisatoshis, times in milliseconds.
 */
export const WORLD_TABLES = `
CREATE TABLE accounts (
  account TEXT PRIMARY KEY,
  balance_msat INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The outside world's own secret; one row.
CREATE TABLE outside (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seed BLOB NOT NULL
) STRICT;

-- Keys derived from the root seed; the seed itself is never stored.
CREATE TABLE wallets (
  user_pk TEXT PRIMARY KEY,
  node_pk TEXT NOT NULL UNIQUE,
  node_secret_key BLOB NOT NULL,
  onchain_account_key BLOB NOT NULL,
  partner_pk TEXT,
  created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE provisioned (
  user_pk TEXT NOT NULL,
  measurement TEXT NOT NULL,
  PRIMARY KEY (user_pk, measurement)
) STRICT, WITHOUT ROWID;
${TOKENS_TABLE}
CREATE TABLE payments (
  user_pk TEXT NOT NULL,
  idx TEXT NOT NULL,
  id TEXT NOT NULL,
  updated_ms INTEGER NOT NULL,
  status TEXT NOT NULL,
  json TEXT NOT NULL,
  -- Only of inbound invoices.
  expires_ms INTEGER,
  PRIMARY KEY (user_pk, idx)
) STRICT;
CREATE UNIQUE INDEX payments_by_update ON payments (user_pk, updated_ms);
CREATE INDEX payments_by_id ON payments (user_pk, id, idx);
CREATE INDEX payments_expiring ON payments (expires_ms) WHERE expires_ms IS NOT NULL AND status = 'pending';

CREATE TABLE names (
  user_pk TEXT PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  offer TEXT NOT NULL,
  -- When the 24 hours began in which it can be changed.
  window_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), offset_ms INTEGER NOT NULL) STRICT;
INSERT INTO clock VALUES (1, 0);
`;
