import { turn } from '../../lib/turn.ts';
import { type PaymentIndex, timePart } from '../../model/payment-index.ts';
import type { SoughtWord } from '../../model/payment-search.ts';
import { type CacheConditions, cacheConditions, hasWord, patternsOf } from '../cache-conditions.ts';
import type { CacheQuery } from '../ports.ts';
import type { Query, RawRow, RowDatabase, Rows } from '../rows/rows.ts';
import { type Steps, together } from '../rows/steps.ts';
import type { FoundWords } from './word-index.ts';

/** Payments at the beginning of a list whose words are compared one by one: what is frequent fills the page of them. */
const NEAR = 5000;
/** A word that no more of them have is looked for in the index, which reads all that a word has before the first. */
const RARE = NEAR / 20;
/** What no index of a list answers. */
const WORDLESS = { text: undefined, idPart: undefined };

/**
 * Returns what finds rows of the cache by words, at most as many as the query's limit (docs/decisions.md 193), of which
 * the conditions are given. What is asked of the store is asked in steps, between which other requests are served.
 */
export function wordSearch(
  db: RowDatabase,
  rows: Rows,
  select: (rest: string) => Query<RawRow>,
): (walletId: string, query: CacheQuery, conditions: CacheConditions) => Promise<RawRow[]> {
  /** Returns the payment up to which the words are compared; null where that is all of them. */
  const edgeOf = ({ where, values, order }: CacheConditions) =>
    rows
      .query<{ idx: PaymentIndex }>(
        `SELECT idx FROM wallet_sidecar.cache WHERE ${where} ORDER BY idx ${order} LIMIT 1 OFFSET ${NEAR}`,
      )
      .one(...values);

  /** Returns those of the words that few payments have, at least one. */
  function* rareOf({ where, values, order }: CacheConditions, sought: readonly SoughtWord[]) {
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

  return async (walletId, query, { where, values, order, sought }) => {
    const listed = cacheConditions(walletId, { ...query, ...WORDLESS });
    const edge = await db.read(() => edgeOf(listed));
    const before = order === 'ASC' ? '<' : '>';
    const first = await db.read(() =>
      select(
        `WHERE ${where} ${edge ? `AND idx ${before} ?` : ''} ORDER BY idx ${order} LIMIT ?`,
      ).all(...values, ...(edge ? [edge.idx] : []), query.limit),
    );
    if (edge === null || first.length >= query.limit) return first;
    await turn();
    const rare = await db.read(() => rareOf(listed, sought));
    const most = query.limit - first.length;
    const found: string[] = [];
    const { sinceMs, untilMs } = query;
    const unbound = { ...query, after: null, sinceMs: null, untilMs: null };
    const timeOf = (ms: number) => timePart(ms) as PaymentIndex;
    const begin = () =>
      rows.wordIndex.find({
        walletId,
        rare,
        fits: cacheConditions(walletId, unbound),
        listed: cacheConditions(walletId, { ...unbound, ...WORDLESS }),
        range:
          order === 'ASC'
            ? [edge.idx, timeOf(untilMs ?? Number.MAX_SAFE_INTEGER)]
            : [timeOf(sinceMs ?? 0), edge.idx],
        most,
      });
    for (let step: (() => Steps<FoundWords>) | null = begin; step && found.length < most; ) {
      await turn();
      const some: FoundWords = await db.read(step);
      found.push(...some.found);
      step = some.next;
    }
    const one = select('WHERE wallet = ? AND idx = ?');
    return db.read(function* () {
      const read: readonly (RawRow | null)[] = yield* together(
        found.slice(0, most).map((idx) => one.one(walletId, idx)),
      );
      return [...first, ...read.filter((row) => row !== null)];
    });
  };
}
