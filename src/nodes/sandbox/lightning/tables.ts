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

/** Tables of invoices, channels and payments in flight. Amounts are in millisatoshis, times in milliseconds. */
export const LIGHTNING_TABLES = `
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
${HELD_TABLE}`;
