import type { Rows } from '../rows/rows.ts';
import type { WordIndex } from './word-index.ts';

/** Returns how the index of words is read: all that has the sought words, from which PostgreSQL takes the first. */
export function postgresWordIndex(query: Rows['query']): WordIndex {
  return {
    *find({ rare, fits: { where, values, order }, range, most }) {
      const match = rare
        .map((word) => `(${word.map((beginning) => `'${beginning}':*`).join(' | ')})`)
        .join(' & ');
      // OFFSET keeps the server from reading payments in order until it finds these, of which it expects more.
      const found = yield* query<{ idx: string }>(
        `SELECT idx FROM (
           SELECT idx FROM wallet_sidecar.cache
           WHERE ${where} AND idx BETWEEN ? AND ?
             AND array_to_tsvector(string_to_array(words, ' ')) @@ CAST(? AS tsquery) OFFSET 0
         ) AS found ORDER BY idx ${order} LIMIT ?`,
      ).all(...values, ...range, match, most);
      return { found: found.map(({ idx }) => idx), next: null };
    },
  };
}
