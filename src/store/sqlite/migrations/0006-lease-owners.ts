/**
 * Adds the id of the process that holds a lease, by which leases of a dead process are found. The index holds only
 * deliveries whose attempt is running.
 */
export const leaseOwners = `
ALTER TABLE delivery ADD COLUMN lease_owner TEXT;
CREATE INDEX delivery_leased ON delivery (lease_owner) WHERE state = 'pending' AND lease_owner IS NOT NULL;
`;
