/** Adds the names of wallets, and the unpaid invoices that payers of these names got (docs/decisions.md 100). */
export const names = `
CREATE TABLE name (
  wallet TEXT PRIMARY KEY,
  node_kind TEXT NOT NULL,
  username TEXT NOT NULL UNIQUE,
  -- The offer that the name stands for; null on a node without offers.
  offer TEXT,
  -- When the 24 hours began in which it can be changed, by the node's clock.
  window_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE name_invoice (
  wallet TEXT NOT NULL,
  id TEXT NOT NULL,
  -- A tag of the address that asked for it, which tells nothing of the address.
  source TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (wallet, id)
) STRICT, WITHOUT ROWID;
`;
