/**
 * Adds the indexes of spends that gave way to another row. Takes out of the cache what was given up while a sync had
 * read it: such a row stayed pending for ever. A wallet whose payments the journal keeps has had a row there.
 */
export const givenWay = `
CREATE TABLE given_way (
  wallet TEXT NOT NULL,
  idx TEXT NOT NULL,
  to_idx TEXT NOT NULL,
  PRIMARY KEY (wallet, idx)
) STRICT, WITHOUT ROWID;
DELETE FROM cache
WHERE status = 'pending' AND direction = 'outbound'
  AND (wallet IN (SELECT wallet FROM journal_tip) OR wallet IN (SELECT wallet FROM journal))
  AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.wallet = cache.wallet AND j.idx = cache.idx);
`;
