import type { SQL } from 'bun';
import { searchWordsIn } from '../../columns/cached.ts';

const AT_ONCE = 500;

/** Adds the words of cached payments, and an index of them (docs/decisions.md 193). */
export async function searchWords(tx: SQL): Promise<void> {
  await tx.unsafe(`ALTER TABLE cache ADD COLUMN words TEXT NOT NULL DEFAULT ''`);
  // The cursor sees the table as it was, and not what is written meanwhile.
  await tx.unsafe('DECLARE wordless NO SCROLL CURSOR FOR SELECT wallet, idx, json FROM cache');
  for (;;) {
    const rows = await tx.unsafe<{ wallet: string; idx: string; json: string }[]>(
      `FETCH ${AT_ONCE} FROM wordless`,
    );
    if (rows.length === 0) break;
    const columns = [
      rows.map(({ json }) => searchWordsIn(json)),
      rows.map(({ wallet }) => wallet),
      rows.map(({ idx }) => idx),
    ];
    await tx.unsafe(
      `UPDATE cache SET words = given.words
       FROM unnest($1::text[], $2::text[], $3::text[]) AS given (words, wallet, idx)
       WHERE cache.wallet = given.wallet AND cache.idx = given.idx`,
      columns.map((values) => tx.array(values, 'text')),
    );
  }
  await tx.unsafe('CLOSE wordless');
  await tx.unsafe(
    `CREATE INDEX cache_by_word ON cache USING gin (array_to_tsvector(string_to_array(words, ' ')))`,
  );
}
