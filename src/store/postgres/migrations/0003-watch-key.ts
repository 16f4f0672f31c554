/**
 * Watches of one payment are looked up without their kind. In the order of the columns before, PostgreSQL read all
 * watches of the wallet for that, as long as it had no statistics of a table that grows.
 */
export const watchKey = `
ALTER TABLE watch DROP CONSTRAINT watch_pkey, ADD PRIMARY KEY (wallet, key, kind);
`;
