/**
 * Adds the indexes of spends that gave way to another row, and takes out of the cache what was given up while a sync
 * had read it, as SQLite's step 12 does.
 */
export const givenWay = `
CREATE TABLE given_way (
  wallet TEXT COLLATE "C" NOT NULL,
  idx TEXT COLLATE "C" NOT NULL,
  to_idx TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (wallet, idx)
);
DELETE FROM cache
WHERE status = 'pending' AND direction = 'outbound'
  AND (wallet IN (SELECT wallet FROM journal_tip) OR wallet IN (SELECT wallet FROM journal))
  AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.wallet = cache.wallet AND j.idx = cache.idx);
`;
