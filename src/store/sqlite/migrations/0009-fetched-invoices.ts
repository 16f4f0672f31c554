/** Adds the invoices that were fetched for offers, which payer proofs need (docs/decisions.md 40, 101). */
export const fetchedInvoices = `
CREATE TABLE fetched_invoice (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  -- BOLT 12, as text.
  invoice TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;
`;
