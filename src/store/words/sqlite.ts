import { timePart } from '../../model/payment-index.ts';
import type { Rows, WordIndex } from '../rows/rows.ts';

/** The most entries of the index that are read at once, which holds up everything else meanwhile. */
const MOST_AT_ONCE = 32_000;

/**
 * Returns how the index of words is read. An entry names a time of creation, and may be of words that a payment had
 * before, so the rows of that time are compared (the step of the schema says why).
 */
export function sqliteWordIndex(query: Rows['query']): WordIndex {
  return {
    *find({ sought, where, values, order, sinceMs, untilMs, most }) {
      const limit = Math.min(most, MOST_AT_ONCE);
      const match = sought
        .map((word) => `(${word.map((beginning) => `"${beginning}"*`).join(' OR ')})`)
        .join(' AND ');
      const times = yield* query<{ at: number }>(
        `SELECT rowid AS at FROM cache_word WHERE cache_word MATCH ? AND rowid BETWEEN ? AND ?
         ORDER BY rowid ${order} LIMIT ?`,
      ).all(match, sinceMs, untilMs, limit);
      const ranges = times.map(({ at }) => [timePart(at), timePart(at + 1)]);
      const found = yield* query<{ idx: string }>(
        `SELECT idx FROM (SELECT value ->> 0 AS since, value ->> 1 AS until FROM json_each(?))
         CROSS JOIN cache INDEXED BY sqlite_autoindex_cache_1
         WHERE idx >= since AND idx < until AND ${where} ORDER BY idx ${order}`,
      ).all(JSON.stringify(ranges), ...values);
      const last = times.at(-1)?.at;
      const isOver = last === undefined || times.length < limit;
      return {
        found: found.map(({ idx }) => idx),
        next: isOver ? null : last + (order === 'ASC' ? 1 : -1),
      };
    },
  };
}
