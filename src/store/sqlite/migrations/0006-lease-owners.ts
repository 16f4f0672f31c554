/** The process that holds a lease, so that a dead one's are found; the index is of running attempts. */
export const leaseOwners = `
ALTER TABLE delivery ADD COLUMN lease_owner TEXT;
CREATE INDEX delivery_leased ON delivery (lease_owner) WHERE state = 'pending' AND lease_owner IS NOT NULL;
`;
