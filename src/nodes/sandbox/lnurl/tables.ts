/** Tables of LNURL services. Amounts that may exceed 2^53 are decimal text, in millisatoshis. */
export const LNURL_TABLES = `
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
