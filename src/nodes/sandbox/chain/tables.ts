/** Locks on coins of transactions that are not published yet, which nothing else may spend until they expire. */
export const LOCKS_TABLE = `
CREATE TABLE chain_locks (
  txid TEXT NOT NULL,
  vout INTEGER NOT NULL,
  id TEXT NOT NULL,
  -- The ledger account that the coin belongs to.
  owner TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  PRIMARY KEY (txid, vout)
) STRICT, WITHOUT ROWID;
`;

/**
 * Tables of the simulated chain. An `owner` is the ledger account whose coins an output holds. The unspent outputs of
 * an on-chain account always add up to the account's balance in the ledger.
 */
export const CHAIN_TABLES = `
CREATE TABLE chain_tip (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  height INTEGER NOT NULL,
  -- When the newest block was due; blocks that come by themselves follow from it.
  time_ms INTEGER NOT NULL
) STRICT;

-- Only blocks that hold transactions: empty ones are counted by the tip and leave nothing to remember.
CREATE TABLE chain_blocks (
  height INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  time_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE chain_transactions (
  txid TEXT PRIMARY KEY,
  raw BLOB NOT NULL,
  -- The ledger account that pays the fee.
  payer TEXT NOT NULL,
  fee_sat INTEGER NOT NULL,
  vsize INTEGER NOT NULL,
  seen_ms INTEGER NOT NULL,
  height INTEGER,
  replaced_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_mempool ON chain_transactions (seen_ms) WHERE height IS NULL AND replaced_by IS NULL;

CREATE TABLE chain_outputs (
  txid TEXT NOT NULL,
  vout INTEGER NOT NULL,
  value_sat INTEGER NOT NULL,
  script TEXT NOT NULL,
  owner TEXT NOT NULL,
  spent_by TEXT,
  -- 1 while the output is unconfirmed and somebody else's transaction made it: it may yet be replaced.
  untrusted INTEGER NOT NULL,
  PRIMARY KEY (txid, vout)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_unspent ON chain_outputs (owner) WHERE spent_by IS NULL;
CREATE INDEX chain_untrusted ON chain_outputs (owner) WHERE untrusted = 1 AND spent_by IS NULL;
CREATE INDEX chain_spends ON chain_outputs (spent_by) WHERE spent_by IS NOT NULL;

-- Scripts whose keys are known, and whom they belong to.
CREATE TABLE chain_scripts (
  script TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  kind TEXT NOT NULL,
  branch TEXT NOT NULL,
  key_index INTEGER NOT NULL,
  used INTEGER NOT NULL,
  UNIQUE (owner, branch, key_index)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_unused ON chain_scripts (owner, branch, key_index) WHERE used = 0;

-- Payments that wait for confirmations.
CREATE TABLE chain_watches (
  user_pk TEXT NOT NULL,
  payment_index TEXT NOT NULL,
  txid TEXT NOT NULL,
  PRIMARY KEY (user_pk, payment_index)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_watches_by_txid ON chain_watches (txid);
${LOCKS_TABLE}`;
