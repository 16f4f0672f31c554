import { createdAtOfIndex, type PaymentIndex, timePart } from '../../model/payment-index.ts';
import type { SoughtWord } from '../../model/payment-search.ts';
import { type CacheConditions, cacheConditions, hasWord, patternsOf } from '../cache-conditions.ts';
import type { CacheQuery } from '../ports.ts';
import type { Rows } from '../rows/rows.ts';
import { type Steps, together } from '../rows/steps.ts';
import {
  type FoundWords,
  isUp,
  rangeOf,
  type WantedWords,
  WORDLESS,
  type WordIndex,
} from './word-index.ts';

/** Payments at the beginning of a list whose words are compared one by one: what is frequent fills the page of them. */
const NEAR = 5000;
/** A word that no more of them have is looked for in the index, which reads all that a word has before the first. */
const RARE = NEAR / 20;
/** A period, about 11 days: PostgreSQL reads all that has a word in a period before the first of it. */
const PERIOD_MS = 1_000_000_000;
/** Where the text of an index says the period. */
const PERIOD = [6, 10] as const;

/** The filters and words of a payment, each behind its period, as the step of the schema indexes them. */
const TERMS = `array_to_tsvector(string_to_array(
  substr(idx, 7, 4) || replace('>' || direction || ' <' || rail || ' =' || status || ' ' || words,
    ' ', ' ' || substr(idx, 7, 4)), ' '))`;

/** Returns how the index of words is read, a period at a time. */
export function postgresWordIndex(query: Rows['query']): WordIndex {
  return {
    *find({ walletId, query: wanted, conditions }) {
      const { where, values, order } = conditions;
      const listed = cacheConditions(walletId, { ...wanted, ...WORDLESS });
      const edge = yield* query<{ idx: PaymentIndex }>(
        `SELECT idx FROM wallet_sidecar.cache WHERE ${listed.where}
         ORDER BY idx ${order} LIMIT 1 OFFSET ${NEAR}`,
      ).one(...listed.values);
      const before = order === 'ASC' ? '<' : '>';
      const first = yield* query<{ idx: PaymentIndex }>(
        `SELECT idx FROM wallet_sidecar.cache WHERE ${where} ${edge ? `AND idx ${before} ?` : ''}
         ORDER BY idx ${order} LIMIT ?`,
      ).all(...values, ...(edge ? [edge.idx] : []), wanted.limit);
      return {
        found: first.map(({ idx }) => idx),
        next:
          edge && first.length < wanted.limit
            ? () => indexed({ walletId, query: wanted, conditions }, listed, edge.idx)
            : null,
      };
    },
  };

  /** Finds what the index has from a payment on. */
  function* indexed(
    { walletId, query: wanted, conditions }: WantedWords,
    near: CacheConditions,
    from: PaymentIndex,
  ): Steps<FoundWords> {
    const isUpwards = isUp(wanted);
    const unbound = { ...wanted, after: null, sinceMs: null, untilMs: null };
    const fits = cacheConditions(walletId, unbound);
    const listed = cacheConditions(walletId, { ...unbound, ...WORDLESS });
    const [lowest, highest] = rangeOf({ ...wanted, after: from });
    const rare = yield* rareOf(near, conditions.sought);
    const terms = [...rare, ...filterWords(wanted)];
    // OFFSET keeps the server from reading payments in order until it finds these, of which it expects more.
    const inPeriod = query<{ idx: PaymentIndex }>(
      `SELECT idx FROM (
         SELECT * FROM wallet_sidecar.cache WHERE ${TERMS} @@ CAST(? AS tsquery) OFFSET 0
       ) AS found
       WHERE ${fits.where} AND idx BETWEEN ? AND ? ORDER BY idx ${fits.order} LIMIT ?`,
    );
    const beyond = query<{ idx: PaymentIndex }>(
      `SELECT idx FROM wallet_sidecar.cache WHERE ${listed.where} AND idx BETWEEN ? AND ?
       ORDER BY idx ${fits.order} LIMIT 1`,
    );
    return yield* periodOf(from);

    /** Finds what is in the period of a payment, and goes on with the next that has one which fits the filters. */
    function* periodOf(payment: PaymentIndex): Steps<FoundWords> {
      const first = Math.floor(createdAtOfIndex(payment) / PERIOD_MS) * PERIOD_MS;
      const [since, until] = [timePart(first), timePart(first + PERIOD_MS)];
      const [found, next] = yield* together([
        inPeriod.all(
          matchOf(terms, payment.slice(...PERIOD)),
          ...fits.values,
          since > lowest ? since : lowest,
          until < highest ? until : highest,
          wanted.limit,
        ),
        beyond.one(...listed.values, ...(isUpwards ? [until, highest] : [lowest, since])),
      ]);
      return { found: found.map(({ idx }) => idx), next: next && (() => periodOf(next.idx)) };
    }
  }

  /** Returns those of the words that few payments have, at least one. */
  function* rareOf({ where, values, order }: CacheConditions, sought: readonly SoughtWord[]) {
    const counts = sought.map(
      (word, at) => `count(CASE WHEN ${hasWord(word)} THEN 1 END) AS n${at}`,
    );
    const near = `SELECT words FROM wallet_sidecar.cache WHERE ${where} ORDER BY idx ${order} LIMIT ${NEAR}`;
    const counted = yield* query<Record<string, number>>(
      `SELECT ${counts.join(', ')} FROM (${near}) AS near`,
    ).one(...sought.flatMap(patternsOf), ...values);
    const countOf = (at: number) => counted?.[`n${at}`] ?? 0;
    const least = Math.max(RARE, Math.min(...sought.map((_, at) => countOf(at))));
    return sought.filter((_, at) => countOf(at) <= least);
  }
}

/** Returns the words of the index that stand for filters. */
function filterWords({ direction, rail, filter }: CacheQuery): SoughtWord[] {
  const statuses = { awaiting: ['pending'], finalized: ['completed', 'failed'], all: [] };
  const status = filter in statuses ? statuses[filter as keyof typeof statuses] : [filter];
  return [
    direction === null ? [] : [`>${direction}`],
    rail === null ? [] : [`<${rail}`],
    status.map((one) => `=${one}`),
  ].filter((word) => word.length > 0);
}

function matchOf(words: readonly SoughtWord[], period: string): string {
  return words
    .map((word) => `(${word.map((beginning) => `'${period}${beginning}':*`).join(' | ')})`)
    .join(' & ');
}
