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

/** Payments that wallets hold for their hold invoices. */
export const HELD_TABLE = `
CREATE TABLE held (
  payment_hash TEXT PRIMARY KEY,
  amount_msat INTEGER NOT NULL,
  -- Height at which it goes back to the payer.
  expiry_height INTEGER NOT NULL,
  -- The paying wallet and its payment; null for the outside world.
  payer_pk TEXT,
  payer_idx TEXT
) STRICT, WITHOUT ROWID;
`;

/**
 * Tables of wallets, tokens, money, payments, invoices and channels. Amounts are in millisatoshis, times in
 * milliseconds.
 */
export const LIGHTNING_TABLES = `
CREATE TABLE accounts (
  account TEXT PRIMARY KEY,
  balance_msat INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The book of every transfer: what one account loses another gains.
CREATE TABLE transfers (
  seq INTEGER PRIMARY KEY,
  debit TEXT NOT NULL,
  credit TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  memo TEXT NOT NULL
) STRICT;

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

${TOKENS_TABLE}${HELD_TABLE}
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
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX payments_by_update ON payments (user_pk, updated_ms);
CREATE INDEX payments_by_id ON payments (user_pk, id, idx);
CREATE INDEX payments_expiring ON payments (expires_ms) WHERE expires_ms IS NOT NULL AND status = 'pending';

-- Everything that can be paid over Lightning in this world, by what unlocks it.
CREATE TABLE invoices (
  payment_hash TEXT PRIMARY KEY,
  -- The receiving wallet; null for the outside world.
  user_pk TEXT,
  -- The wallet's pending payment; null for BOLT 12, whose payment begins when it arrives.
  idx TEXT,
  -- Empty until its owner tells it, for a hold invoice of a wallet.
  preimage TEXT NOT NULL,
  -- What the receiver does with a payment: settle, fail, hold.
  behavior TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  -- 1 once it was paid.
  settled INTEGER NOT NULL DEFAULT 0,
  offer_id TEXT,
  payer_name TEXT,
  message TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE channels (
  user_pk TEXT NOT NULL,
  user_channel_id TEXT NOT NULL,
  channel_id TEXT NOT NULL UNIQUE,
  funding_txid TEXT NOT NULL,
  funding_vout INTEGER NOT NULL,
  value_sat INTEGER NOT NULL,
  -- Height from which it can be used: opened on request it waits for a block, opened just in time it does not.
  usable_from INTEGER NOT NULL,
  closed_txid TEXT,
  PRIMARY KEY (user_pk, user_channel_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX channels_open ON channels (user_pk) WHERE closed_txid IS NULL;

-- Parts of outbound payments in flight, by the channel that holds them.
CREATE TABLE htlcs (
  user_pk TEXT NOT NULL,
  idx TEXT NOT NULL,
  user_channel_id TEXT NOT NULL,
  amount_msat INTEGER NOT NULL,
  -- Height from which it fails back; null until the receiver holds it.
  expiry_height INTEGER,
  PRIMARY KEY (user_pk, idx, user_channel_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX htlcs_by_channel ON htlcs (user_pk, user_channel_id);
`;
