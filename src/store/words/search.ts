import { createdAtOfIndex } from '../../model/payment-index.ts';
import type { SoughtWord } from '../../model/payment-search.ts';
import { cacheConditions, hasWord, patternsOf } from '../cache-conditions.ts';
import type { CacheQuery } from '../ports.ts';
import type { Query, RawRow, RowDatabase, Rows } from '../rows/rows.ts';
import { together } from '../rows/steps.ts';

/** Payments at the beginning of a list whose words are compared one by one: what is frequent fills the page of them. */
const NEAR = 5000;
/** A word that no more of them have is looked for in the index, which reads all that a word has before the first. */
const RARE = NEAR / 20;
/** Payments that are looked for in the index at first, of which some do not fit. */
const FIRST = 2000;
const LAST_MS = Number.MAX_SAFE_INTEGER;

/**
 * Returns what finds rows of the cache by words, at most as many as the query's limit (docs/decisions.md 193). What is
 * asked of the store is asked in steps, between which other requests are served.
 */
export function wordSearch(
  db: RowDatabase,
  rows: Rows,
  select: (rest: string) => Query<RawRow>,
): (walletId: string, query: CacheQuery) => Promise<RawRow[]> {
  /** Returns the payment up to which the words are compared; null where that is all of them. */
  const edgeOf = (walletId: string, query: CacheQuery) => {
    const { where, values, order } = cacheConditions(walletId, withoutFilters(query));
    return rows
      .query<{ idx: string }>(
        `SELECT idx FROM wallet_sidecar.cache WHERE ${where} ORDER BY idx ${order} LIMIT 1 OFFSET ${NEAR}`,
      )
      .one(...values);
  };

  /** Returns those of the words that few payments have, at least one. */
  function* rareOf(walletId: string, query: CacheQuery, sought: readonly SoughtWord[]) {
    const { where, values, order } = cacheConditions(walletId, withoutFilters(query));
    const counts = sought.map(
      (word, at) => `count(CASE WHEN ${hasWord(word)} THEN 1 END) AS n${at}`,
    );
    const near = `SELECT words FROM wallet_sidecar.cache WHERE ${where} ORDER BY idx ${order} LIMIT ${NEAR}`;
    const counted = yield* rows
      .query<Record<string, number>>(`SELECT ${counts.join(', ')} FROM (${near}) AS near`)
      .one(...sought.flatMap(patternsOf), ...values);
    const countOf = (at: number) => counted?.[`n${at}`] ?? 0;
    const least = Math.max(RARE, Math.min(...sought.map((_, at) => countOf(at))));
    return sought.filter((_, at) => countOf(at) <= least);
  }

  return async (walletId, query) => {
    const { where, values, order, sought } = cacheConditions(walletId, query);
    const edge = await db.read(() => edgeOf(walletId, query));
    const isBefore = order === 'ASC' ? '<' : '>';
    const near = edge === null ? '' : `AND idx ${isBefore} ?`;
    const isNear = edge === null ? [] : [edge.idx];
    const first = await db.read(() =>
      select(`WHERE ${where} ${near} ORDER BY idx ${order} LIMIT ?`).all(
        ...values,
        ...isNear,
        query.limit,
      ),
    );
    if (edge === null || first.length >= query.limit) return first;
    const rare = await db.read(() => rareOf(walletId, query, sought));
    const afterMs = query.after === null ? null : createdAtOfIndex(query.after);
    let sinceMs = (order === 'ASC' ? afterMs : null) ?? query.sinceMs ?? 0;
    let untilMs = (order === 'DESC' ? afterMs : null) ?? query.untilMs ?? LAST_MS;
    const found: string[] = [];
    for (let most = Math.max(FIRST, query.limit); found.length < query.limit; most *= 4) {
      const wanted = { sought: rare, where, values, order, sinceMs, untilMs, most };
      const step = await db.read(() => rows.wordIndex.find(wanted));
      found.push(...step.found);
      if (step.next === null) break;
      if (order === 'ASC') sinceMs = step.next;
      else untilMs = step.next;
    }
    const one = select('WHERE wallet = ? AND idx = ?');
    return db.read(function* () {
      const page = found.slice(0, query.limit);
      const read: readonly (RawRow | null)[] = yield* together(
        page.map((idx) => one.one(walletId, idx)),
      );
      return read.filter((row) => row !== null);
    });
  };
}

/** A query of the same part of the list, for every payment in it. */
function withoutFilters({ order, limit, after, sinceMs, untilMs }: CacheQuery): CacheQuery {
  return {
    filter: 'all',
    order,
    limit,
    after,
    direction: null,
    rail: null,
    sinceMs,
    untilMs,
    externalId: null,
  };
}
