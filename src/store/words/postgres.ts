import { createdAtOfIndex, type PaymentIndex, timePart } from '../../model/payment-index.ts';
import type { SoughtWord } from '../../model/payment-search.ts';
import type { Rows } from '../rows/rows.ts';
import { type Steps, together } from '../rows/steps.ts';
import type { FoundWords, WordIndex } from './word-index.ts';

/** A period, about 11 days: PostgreSQL reads all that has a word in a period before the first of it. */
const PERIOD_MS = 1_000_000_000;
/** Where the text of an index says the period. */
const PERIOD = [6, 10] as const;

/** The words of a payment behind its period, as the step of the schema indexes them. */
const TERMS = `array_to_tsvector(string_to_array(
  substr(idx, 7, 4) || replace(words, ' ', ' ' || substr(idx, 7, 4)), ' '))`;

/** Returns how the index of words is read, a period at a time. */
export function postgresWordIndex(query: Rows['query']): WordIndex {
  return {
    *find({ fits, listed, range, rare, most }) {
      const isUp = fits.order === 'ASC';
      const [lowest, highest] = range;
      // OFFSET keeps the server from reading payments in order until it finds these, of which it expects more.
      const inPeriod = query<{ idx: string }>(
        `SELECT idx FROM (
           SELECT * FROM wallet_sidecar.cache WHERE ${TERMS} @@ CAST(? AS tsquery) OFFSET 0
         ) AS found
         WHERE ${fits.where} AND idx BETWEEN ? AND ? ORDER BY idx ${fits.order} LIMIT ?`,
      );
      const beyond = query<{ idx: PaymentIndex }>(
        `SELECT idx FROM wallet_sidecar.cache WHERE ${listed.where} AND idx BETWEEN ? AND ?
         ORDER BY idx ${fits.order} LIMIT 1`,
      );
      return yield* periodOf(isUp ? lowest : highest);

      /** Finds what is in the period of a payment, and goes on with the next that has one which fits the filters. */
      function* periodOf(from: PaymentIndex): Steps<FoundWords> {
        const first = Math.floor(createdAtOfIndex(from) / PERIOD_MS) * PERIOD_MS;
        const [since, until] = [timePart(first), timePart(first + PERIOD_MS)];
        const [found, next] = yield* together([
          inPeriod.all(
            matchOf(rare, from.slice(...PERIOD)),
            ...fits.values,
            since > lowest ? since : lowest,
            until < highest ? until : highest,
            most,
          ),
          beyond.one(...listed.values, ...(isUp ? [until, highest] : [lowest, since])),
        ]);
        return {
          found: found.map(({ idx }) => idx),
          next: next && (() => periodOf(next.idx)),
        };
      }
    },
  };
}

function matchOf(words: readonly SoughtWord[], period: string): string {
  return words
    .map((word) => `(${word.map((beginning) => `'${period}${beginning}':*`).join(' | ')})`)
    .join(' & ');
}
