import type { SQL } from 'bun';
import { type Bundled, bundleOf } from '../../words/bundle.ts';

/** Payments of a bundle. */
const AT_ONCE = 200;

/**
 * Puts bundles of the words of cached payments in the place of an index of them (docs/decisions.md 193). What is read
 * of every bundle stands in its row, and what few searches need is not compressed.
 */
export async function wordSets(tx: SQL): Promise<void> {
  await tx.unsafe(`
DROP INDEX IF EXISTS cache_by_word;
CREATE TABLE word_bundle (
  id BIGINT PRIMARY KEY,
  wallet TEXT COLLATE "C" NOT NULL,
  since BIGINT NOT NULL,
  until BIGINT NOT NULL,
  marks TEXT COLLATE "C" NOT NULL,
  sets TEXT COLLATE "C" NOT NULL,
  ids TEXT COLLATE "C" NOT NULL,
  times TEXT COLLATE "C" NOT NULL,
  lines TEXT COLLATE "C" NOT NULL
);
ALTER TABLE word_bundle ALTER marks SET STORAGE MAIN, ALTER sets SET STORAGE MAIN,
  ALTER ids SET STORAGE EXTERNAL, ALTER times SET STORAGE EXTERNAL, ALTER lines SET STORAGE EXTERNAL;
CREATE INDEX word_bundle_by_since ON word_bundle (wallet, since, id);
CREATE INDEX word_bundle_by_until ON word_bundle (wallet, until, id);
CREATE TABLE word_loose (
  wallet TEXT COLLATE "C" NOT NULL,
  idx TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (wallet, idx)
);`);
  await tx.unsafe(
    `DECLARE worded NO SCROLL CURSOR FOR
     SELECT wallet, idx, status, direction, rail, words FROM cache ORDER BY wallet, idx`,
  );
  for (let number = 1; ; ) {
    const rows = await tx.unsafe<(Bundled & { wallet: string })[]>(`FETCH ${AT_ONCE} FROM worded`);
    if (rows.length === 0) break;
    const byWallet = Map.groupBy(rows, ({ wallet }) => wallet);
    for (const [wallet, some] of byWallet) {
      const { since, until, marks, sets, ids, times, lines } = bundleOf(some);
      await tx`INSERT INTO word_bundle VALUES
        (${number}, ${wallet}, ${since}, ${until}, ${marks}, ${sets}, ${ids}, ${times}, ${lines})`;
      number += 1;
    }
  }
  await tx.unsafe('CLOSE worded');
}
