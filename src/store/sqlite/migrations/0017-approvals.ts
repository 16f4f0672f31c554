/** What a client's payment may cost before it waits, and until when one waits (docs/decisions.md 187). */
export const approvals = `
ALTER TABLE client ADD COLUMN approve_above_msat INTEGER;
ALTER TABLE spend ADD COLUMN approve_until INTEGER;
`;
